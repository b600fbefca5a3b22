import { setTimeout as delay } from 'node:timers/promises';
import type { Json, LookupAnswer, Verdict } from '@intendant/intent';
import { newId } from '@intendant/runtime';
import { createRegistry } from '@intendant/tools';
import type { LookupRequest, UpstreamAdapter } from '@intendant/upstream';
import type { Fault, Struck } from './fault.js';
import { type Boundary, killAt } from './kill-at.js';
import { Receipts } from './receipts.js';
import type { Surroundings } from './surroundings.js';

/** What happened to one effect, told to a person. */
export interface Story {
  readonly key: string;
  readonly lines: readonly StoryLine[];
}

export interface StoryLine {
  /** Since the effect was first wanted. */
  readonly ms: number;
  readonly what: string;
}

/** One attempt and what is known about it. Times are those of `performance.now()`, in ms. */
export interface Sent {
  readonly attemptId: string;
  /** After polling, where the upstream had only accepted it. */
  readonly verdict: Verdict;
  readonly endedAt: number;
  /** When the fault struck it; null when it did not, or none was ordered. */
  readonly struck: Struck | null;
}

export interface Look {
  readonly answer: LookupAnswer;
  readonly askedAt: number;
}

/** How many effects a key has, as far as it shows. */
export interface HowMany {
  readonly count: 'none' | 'one' | 'more' | 'unclear';
  readonly why: string;
}

const firstPauseMs = 10;
const longestPauseMs = 250;

/** One effect that is wanted once: a fresh key, and everything that is done and seen under it. */
export class Effect {
  readonly sent: Sent[] = [];
  readonly #request: LookupRequest;
  readonly #upstreams: UpstreamAdapter;
  readonly #beganAt = performance.now();
  readonly #lines: StoryLine[] = [];
  readonly #receipts: Receipts;
  #lastLook: Look | null = null;
  /** Latest moment at which a byte of an attempt can have left. */
  #lastByteAt = 0;
  #settledAbsent = false;
  /** Attempts about which nothing was learned, neither from an answer nor before there was another attempt. */
  #untold = 0;

  constructor(
    private readonly around: Surroundings,
    request: Omit<LookupRequest, 'intentId'>,
  ) {
    this.#request = { ...request, intentId: newId() };
    this.#upstreams = around.open();
    this.#receipts = new Receipts(around.tool, request);
  }

  get key(): string {
    return this.#request.key;
  }

  get story(): Story {
    return { key: this.key, lines: this.#lines };
  }

  /** Identities of all receipts that were shown for this key. */
  get identities(): readonly string[] {
    return this.#receipts.identities;
  }

  /** Values in its receipts that were not in the request. */
  get ownValues(): ReadonlySet<string> {
    return this.#receipts.own;
  }

  /** When the settle time of its last attempt is over, on the clock of `performance.now()`, in ms. */
  get settledAt(): number {
    return this.#lastByteAt + this.around.tool.terms.settleMs;
  }

  get lastLook(): Look | null {
    return this.#lastLook;
  }

  /** The last answer of the lookup was "absent", after the settle time of the last attempt. */
  get settledAbsent(): boolean {
    return this.#settledAbsent;
  }

  /** Sends it once more, with another attempt id. A fault needs a proxy on the way. */
  async send(fault?: Fault): Promise<Sent> {
    const attemptId = newId();
    const { proxy } = this.around;
    let struck: Struck | null = null;
    if (fault && proxy) {
      void proxy.arm(attemptId, fault).then((at) => {
        struck = at;
      });
    }
    this.#tell(`attempt ${attemptId} leaves${fault ? ` (${inWords(fault)})` : ''}`);
    const verdict = await this.#upstreams.call({ ...this.#request, attemptId }, { mayStart: () => true });
    return this.#ended({ attemptId, verdict: await this.#followed(verdict), endedAt: performance.now(), struck });
  }

  /** Sends it from a process of its own, which is killed at that boundary. */
  async sendAndKill(boundary: Boundary): Promise<Sent> {
    const attemptId = newId();
    this.#tell(`attempt ${attemptId} leaves from a process that is killed ${boundary}`);
    const killed = await killAt(boundary, { ...this.#request, attemptId }, this.around);
    return this.#ended({ attemptId, endedAt: performance.now(), ...killed });
  }

  /** Asks the lookup once. */
  async look(): Promise<Look> {
    const askedAt = performance.now();
    const look = { answer: await this.#upstreams.lookup(this.#request), askedAt };
    const { answer } = look;
    this.#tell(`the lookup says ${describe(answer)}`);
    if (answer.kind === 'present' || answer.kind === 'partial') this.#receipts.show(answer.data, 'the lookup');
    this.#lastLook = look;
    this.#settledAbsent = answer.kind === 'absent' && askedAt > this.settledAt;
    // With more attempts than one, what it shows is about any of them.
    if (this.sent.length === 1 && (isThere(look) || this.#settledAbsent)) this.#untold = 0;
    return look;
  }

  /** Asks the lookup again and again until `enough`, or until `untilMs` on the clock has passed; the last answer. */
  async lookUntil(enough: (look: Look) => boolean, untilMs: number): Promise<Look> {
    for (let pause = firstPauseMs; ; pause = Math.min(pause * 2, longestPauseMs)) {
      const look = await this.look();
      if (enough(look) || look.askedAt >= untilMs) return look;
      await delay(Math.min(pause, Math.max(untilMs - performance.now(), 0) + 1));
    }
  }

  /**
   * What the reconciler would find: present at any time, or else what two answers say after the settle time, with the
   * declared spacing between them.
   */
  async settled(): Promise<LookupAnswer> {
    const found = await this.lookUntil(isThere, this.settledAt);
    if (isThere(found)) return found.answer;
    await delay(this.around.tool.terms.spacingMs);
    return (await this.look()).answer;
  }

  /**
   * How many effects there are, from all receipts and the last answer of the lookup. One is only what the lookup counts,
   * or what whole receipts agree about, one for each attempt.
   */
  howMany(): HowMany {
    const answer = this.#lastLook?.answer;
    const counted = answer?.kind === 'present' ? (answer.excess ?? null) : null;
    if (counted !== null && counted > 0) return { count: 'more', why: `the lookup counts ${counted} too many` };
    if (answer?.kind === 'partial') return { count: 'unclear', why: answer.detail };
    const { contradiction, difference, identities } = this.#receipts;
    if (contradiction !== null) return { count: 'more', why: contradiction };
    const [one] = identities;
    if (one === undefined) {
      return answer?.kind === 'absent'
        ? { count: 'none', why: 'the lookup finds nothing' }
        : { count: 'unclear', why: 'there is no receipt, and no lookup that finds nothing' };
    }
    if (counted === 0) return { count: 'one', why: `the lookup counts no more than ${one}` };
    if (difference !== null) {
      const why = `${difference}: required fields agree, others do not, and the lookup does not count`;
      return { count: 'unclear', why };
    }
    if (this.#untold > 0) {
      return { count: 'unclear', why: 'one attempt ended without a receipt, and nothing tells what it did' };
    }
    if (!this.around.receiptsTell) {
      return { count: 'unclear', why: 'a second effect of the same request might have the same receipt' };
    }
    const last = this.sent.at(-1)?.verdict.kind;
    return last === 'executed' || last === 'not_executed'
      ? { count: 'one', why: `every answer shows ${one}` }
      : { count: 'unclear', why: 'the last answer does not tell' };
  }

  close(): Promise<void> {
    return this.#upstreams.close();
  }

  #ended(sent: Sent): Sent {
    const { attemptId, verdict, struck } = sent;
    this.#lastByteAt = performance.now();
    this.#settledAbsent = false;
    if (struck?.status)
      this.#tell(`the upstream had answered ${struck.status} by then${struck.body ? `: ${struck.body}` : ''}`);
    const told = struck?.status != null && struck.status < 300 && this.#showLost(struck.body);
    if (untoldBy(verdict) && !told) this.#untold += 1;
    this.#tell(`attempt ${attemptId}: ${describe(verdict)}`);
    if (verdict.kind === 'executed') this.#receipts.show(verdict.data, 'an answer');
    this.sent.push(sent);
    return sent;
  }

  /** Follows an accepted request to its end as far as the tool file says how. */
  async #followed(verdict: Verdict): Promise<Verdict> {
    const { poll } = this.around.tool.terms;
    if (verdict.kind !== 'accepted' || !poll) return verdict;
    this.#tell(`accepted: ${JSON.stringify(verdict.data)}`);
    const until = performance.now() + Math.min(poll.deadlineMs, this.around.patienceMs);
    for (;;) {
      const answer = await this.#upstreams.poll({ ...this.#request, accepted: verdict.data });
      if (answer.kind === 'executed') return answer;
      if (answer.kind === 'failed') {
        const { detail } = answer;
        return { kind: 'not_executed', cause: 'failed_after_accepted', transient: false, retryAfterMs: null, detail };
      }
      if (performance.now() > until) return { kind: 'unknown', cause: 'still_pending', detail: answer.detail };
      await delay(poll.everyMs);
    }
  }

  /** What a client was not told may be a receipt all the same. */
  #showLost(body: string | null): boolean {
    const { tool } = this.around;
    try {
      const data = JSON.parse(body ?? '') as Json;
      if (createRegistry([tool]).checkOutput(tool, data) !== null) return false;
      this.#receipts.show(data, 'the lost answer');
      return true;
    } catch {
      return false;
    }
  }

  /** The same thing said again and again is said once, with the last time. */
  #tell(what: string): void {
    const line = { ms: Math.round(performance.now() - this.#beganAt), what };
    const [before, last] = this.#lines.slice(-2);
    if (before?.what === what && last?.what === what) this.#lines[this.#lines.length - 1] = line;
    else this.#lines.push(line);
  }
}

/** The effect is there, whole or in part. */
export function isThere({ answer }: Look): boolean {
  return answer.kind === 'present' || answer.kind === 'partial';
}

/** Busy with the key is no loss: what it is busy with is told to the next attempt. */
function untoldBy(verdict: Verdict): boolean {
  return verdict.kind === 'accepted' || (verdict.kind === 'unknown' && verdict.cause !== 'in_progress');
}

export function describe(said: Verdict | LookupAnswer): string {
  if ('cause' in said) return `${said.kind}, ${said.cause}: ${said.detail}`;
  if (said.kind === 'absent') return 'absent';
  if (said.kind === 'cannot_tell') return `cannot tell: ${said.detail}`;
  return `${said.kind} ${JSON.stringify(said.data)}`;
}

function inWords(fault: Fault): string {
  switch (fault.kind) {
    case 'hold_body':
      return 'its body is held back';
    case 'hold_answer':
      return 'its answer is held back';
    case 'cut_before_answer':
      return 'the connection is cut once it passed';
    case 'cut_answer':
      return 'the connection is cut when the answer comes';
    case 'replace_answer':
      return `its answer is replaced by ${fault.status}`;
  }
}
