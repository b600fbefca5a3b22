import type { ErrorObject, IntentResult } from '@intendant/contracts';
import type { Answer } from './clients.js';
import { eventually } from './eventually.js';
import type { Person, Stack } from './stack.js';

/** What a person sees of an approval, as far as tests of flows look at it. */
export interface Card {
  readonly id: string;
  readonly digest: string;
  readonly status: string;
  readonly view: string;
  readonly why: readonly { readonly rule: string; readonly message: string }[];
  readonly differs: readonly string[];
  readonly given: readonly { readonly by: string }[];
}

export type Decided = IntentResult & { readonly error: ErrorObject | null };

/** People who decide about what waits for them, over HTTP. */
export class People {
  constructor(private readonly stack: Stack) {}

  async card(id: string, person: Person = 'erin'): Promise<Card> {
    return (await this.stack.person(person).get<Card>(`/v1/approvals/${id}`)).body;
  }

  /** Agrees to what is asked now, or to what `digest` stands for. */
  async approve(id: string, person: Person = 'erin', digest?: string): Promise<Answer<Decided>> {
    const seen = digest ?? (await this.card(id, person)).digest;
    return this.stack.person(person).post<Decided>(`/v1/approvals/${id}/approve`, { digest: seen });
  }

  refuse(id: string, person: Person = 'erin', reason = 'not this time'): Promise<Answer<Decided>> {
    return this.stack.person(person).post<Decided>(`/v1/approvals/${id}/refuse`, { reason });
  }

  withdraw(id: string, person: Person = 'erin'): Promise<Answer<Decided>> {
    return this.stack.person(person).post<Decided>(`/v1/approvals/${id}/withdraw`);
  }

  /** Resolves when the intent is in that state, by the log. */
  async until(id: string, state: string, timeoutMs = 20_000): Promise<void> {
    await eventually(
      `intent ${id} is ${state}`,
      async () => (await this.stack.store.intents.load(id))?.state === state,
      timeoutMs,
    );
  }
}

/** What the upstream saw of an intent. */
export async function onTheWire(stack: Stack, id: string): Promise<{ requests: number; effects: number }> {
  const key = await stack.keyOf(id);
  return { requests: stack.requests(key).length, effects: stack.effects(key).length };
}

export const never = { requests: 0, effects: 0 };
export const once = { requests: 1, effects: 1 };
