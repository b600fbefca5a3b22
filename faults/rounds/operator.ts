import { setTimeout as pause } from 'node:timers/promises';
import type { ClientAnswer } from '../history/clients.js';
import type { LedgerEntry } from '../history/ledger.js';
import type { Channel } from './channel.js';
import type { ClientLog } from './client-log.js';
import type { PlannedIntent } from './plan-load.js';
import type { DeadLetter, World } from './world.js';

const everyMs = 1_000;
const patienceMs = 4_000;
/** A person looks at a dead letter after this long, in ms; until then the upstream may still act within its limits. */
const slowerThanMs = 3_000;
/** What was sent and is not in the books may still be on its way for this long, in ms: a network gives no word on that. */
export const onItsWayMs = 20_000;

export interface OperatorOptions {
  readonly intents: readonly PlannedIntent[];
  readonly channel: Channel;
  readonly log: ClientLog;
  readonly world: Pick<World, 'deadLetters'>;
  readonly ledger: () => Promise<readonly LedgerEntry[]>;
  readonly operatorKey: string;
  readonly signal: AbortSignal;
}

interface Happened {
  readonly outcome: 'executed' | 'not_executed';
  readonly externalId?: string;
}

/** Somebody who looks after dead letters: replays some, and says of others what really happened; each once. */
export class Operator {
  readonly #plans: ReadonlyMap<string, PlannedIntent['operator']>;
  readonly #done = new Set<string>();

  constructor(private readonly options: OperatorOptions) {
    this.#plans = new Map(options.intents.map(({ ref, operator }) => [ref, operator]));
  }

  async work(): Promise<void> {
    const { signal } = this.options;
    while (!signal.aborted) {
      // PostgreSQL may be away; then there is nothing to see.
      const letters = await this.open().catch(() => []);
      const due = letters.filter(({ since }) => Date.now() - since > slowerThanMs);
      // A line that is being written cannot be read yet.
      const lines = due.length > 0 ? await this.options.ledger().catch(() => null) : null;
      for (const letter of due) if (lines !== null && !signal.aborted) await this.#deal(letter, lines);
      await pause(everyMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Dead letters that are still to be dealt with. @throws when PostgreSQL is away */
  async open(): Promise<DeadLetter[]> {
    const letters = await this.options.world.deadLetters();
    return letters.filter(({ intentId, ref }) => !this.#done.has(intentId) && this.#planOf(ref) !== 'leave');
  }

  #planOf(ref: string): PlannedIntent['operator'] {
    return this.#plans.get(ref) ?? 'leave';
  }

  async #deal(letter: DeadLetter, lines: readonly LedgerEntry[]): Promise<void> {
    const { log } = this.options;
    const { intentId, ref, tool, runId, stepId } = letter;
    const operation = this.#planOf(ref) === 'replay' ? 'replay' : 'resolve';
    const found = operation === 'resolve' ? whatHappened(letter, lines) : null;
    if (operation === 'resolve' && found === null) return;
    const about = { operation, via: 'http', ref, tool, runId, stepId, argsHash: null } as const;
    const answer = await log.ask(about, patienceMs, (signal) =>
      found === null ? this.#replay(letter, signal) : this.#resolve(letter, found, signal),
    );
    // Away, or too early to know: another time.
    if (answer && answer.code !== 'unavailable' && answer.code !== 'internal') this.#done.add(intentId);
  }

  async #replay({ intentId }: DeadLetter, signal: AbortSignal): Promise<ClientAnswer> {
    const { channel, operatorKey } = this.options;
    const body = { ids: [intentId], reason: 'the upstream is back' };
    return channel.ask('POST', '/v1/dead-letters/replay', operatorKey, { body, signal });
  }

  async #resolve({ intentId }: DeadLetter, found: Happened, signal: AbortSignal): Promise<ClientAnswer> {
    const { channel, operatorKey } = this.options;
    const body = { ...found, evidence: 'read in the books of the upstream' };
    return channel.ask('POST', `/v1/intents/${intentId}/resolve`, operatorKey, { body, signal });
  }
}

/** The truth, which is what the upstream's ledger holds; null while a request may still be on its way there. */
function whatHappened({ key, attempts, since }: DeadLetter, lines: readonly LedgerEntry[]): Happened | null {
  const effect = lines.find((line) => line.kind === 'effect' && line.key === key);
  if (effect?.kind === 'effect') return { outcome: 'executed', externalId: effect.externalId };
  const arrived = new Set(lines.flatMap((line) => (line.kind === 'request' ? [line.attemptId] : [])));
  const all = attempts.every((id) => arrived.has(id));
  return all || Date.now() - since > onItsWayMs ? { outcome: 'not_executed' } : null;
}
