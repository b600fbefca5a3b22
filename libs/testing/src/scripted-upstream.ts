import { setTimeout as delay } from 'node:timers/promises';
import type { Json, JsonObject } from '@intendant/intent';

/** What an upstream does with the calls that come. */
export type CallBehaviour =
  /** Executes once per key and answers with the receipt. */
  | 'answer'
  /** Executes and answers with something that is no receipt. */
  | 'useless'
  /** Executes, and answers when it is released. */
  | 'hold'
  /** Executes, and is gone before it has answered. */
  | 'die'
  /** Executes and answers with something that is no data. */
  | 'garbage'
  /** Executes and answers with more than anybody reads. */
  | 'too_large'
  /** Says no and does nothing. */
  | 'refuse'
  /** Is gone before it has done anything. */
  | 'die_early'
  /** Does nothing and never answers. */
  | 'hang'
  /** Promises to execute, as with an HTTP 202. */
  | 'accept';

/** `ledger`: the truth. `useless`: says that the effect is there and shows no receipt. */
export type LookupBehaviour = 'ledger' | 'useless' | 'error' | 'hang';

/** `useless`: says that it was done and shows no receipt. */
export type PollBehaviour = 'pending' | 'done' | 'failed' | 'useless' | 'error' | 'hang';

export interface Conduct {
  readonly call: CallBehaviour;
  readonly lookup: LookupBehaviour;
  readonly poll: PollBehaviour;
}

/** What came with any request. */
export interface Seen {
  readonly key: string;
  readonly args: JsonObject;
  /** It came to the sandbox. */
  readonly sandbox: boolean;
  /** The bare secret that came with it; null without one. */
  readonly credential: string | null;
}

export interface SeenCall extends Seen {
  readonly attemptId: string;
}

export interface SeenQuestion extends Seen {
  readonly about: 'lookup' | 'poll';
  /** Of a poll: what was answered when the request was accepted. */
  readonly accepted?: Json;
}

/** What the upstream does towards its caller, in the words of no protocol. */
export type Reaction =
  | { readonly kind: 'answer' | 'accept'; readonly data: JsonObject }
  | { readonly kind: 'refuse' | 'die' | 'garbage' | 'too_large' | 'hang' | 'error' };

/** More than any adapter under test reads. */
export const tooLarge = 'x'.repeat(200_000);

/**
 * An upstream without a protocol: it notes every request, keeps the effects, and says how to react. The harness of each
 * kind of upstream puts its protocol before it, so that all kinds are judged by one ledger.
 */
export class ScriptedUpstream {
  readonly calls: SeenCall[] = [];
  readonly questions: SeenQuestion[] = [];
  readonly effects: { readonly id: string; readonly key: string; readonly sandbox: boolean }[] = [];
  #conduct: Conduct = { call: 'answer', lookup: 'ledger', poll: 'pending' };
  #held: (() => void)[] = [];

  /** From now on; what is left out goes back to good behaviour. */
  behave(conduct: Partial<Conduct>): void {
    this.#conduct = { call: 'answer', lookup: 'ledger', poll: 'pending', ...conduct };
  }

  async call(seen: SeenCall): Promise<Reaction> {
    const { call } = this.#conduct;
    this.calls.push(seen);
    switch (call) {
      case 'hang':
      case 'refuse':
        return { kind: call };
      case 'die_early':
        return { kind: 'die' };
      case 'accept':
        return { kind: 'accept', data: { operation: `op-${seen.key}` } };
      case 'useless':
        this.#execute(seen);
        return { kind: 'answer', data: { note: 'no receipt' } };
      case 'die':
      case 'garbage':
      case 'too_large':
        this.#execute(seen);
        return { kind: call };
      case 'hold': {
        const receipt = this.#execute(seen);
        await new Promise<void>((released) => this.#held.push(released));
        return { kind: 'answer', data: receipt };
      }
      case 'answer':
        return { kind: 'answer', data: this.#execute(seen) };
    }
  }

  /** Answers with `{ found: [receipt] }`, empty when nothing is there. */
  lookup(seen: Seen): Reaction {
    const { lookup } = this.#conduct;
    this.questions.push({ about: 'lookup', ...seen });
    if (lookup === 'error' || lookup === 'hang') return { kind: lookup };
    const known = this.effects.filter(({ key, sandbox }) => key === seen.key && sandbox === seen.sandbox);
    const found = lookup === 'useless' ? [{ note: 'no receipt' }] : known.map(({ id, key }) => ({ id, key }));
    return { kind: 'answer', data: { found } };
  }

  /** Answers with `{ state, result }`. */
  poll(seen: Seen, accepted: Json): Reaction {
    const { poll } = this.#conduct;
    this.questions.push({ about: 'poll', accepted, ...seen });
    if (poll === 'error' || poll === 'hang') return { kind: poll };
    if (poll === 'useless') return { kind: 'answer', data: { state: 'done', result: { note: 'no receipt' } } };
    return { kind: 'answer', data: { state: poll, ...(poll === 'done' ? { result: this.#execute(seen) } : {}) } };
  }

  /** Lets every call answer that is held. */
  release(): void {
    for (const released of this.#held.splice(0)) released();
  }

  /** Resolves once `count` calls have come in all. */
  async arrived(count: number): Promise<void> {
    await until(() => this.calls.length >= count, `${count} calls have come`);
  }

  #execute({ key, sandbox }: Seen): { id: string; key: string } {
    const known = this.effects.find((effect) => effect.key === key && effect.sandbox === sandbox);
    if (known) return { id: known.id, key };
    const id = `effect-${this.effects.length + 1}`;
    this.effects.push({ id, key, sandbox });
    return { id, key };
  }
}

/** Waits until something is so; fails after ten seconds. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await delay(2);
  }
}
