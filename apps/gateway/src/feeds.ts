import { intentIdPattern, Refusal } from '@intendant/contracts';
import { type Intent, isFinished, isTerminal } from '@intendant/intent';
import { type RunPosition, runStart, type Store } from '@intendant/store';
import type { Reader } from './authentication.js';
import { asAgentsSeeIt, type EventEntry, timeline } from './history.js';

/** One event on its way to a client. */
export interface Entry {
  /** Where to go on after it. */
  readonly id: string;
  readonly type: string;
  readonly data: object;
}

/**
 * What may follow what was given: more, as long as it is `open`; once it is `settled`, nothing but corrections, should
 * evidence come late; after it is `over`, nothing.
 */
export type Prospect = 'open' | 'settled' | 'over';

/** Everything that happens to an intent or in a run, from some place on. */
export interface Feed {
  /** What follows the entries given before, as far as it is there. */
  entries(): AsyncIterable<Entry>;
  prospect(): Promise<Prospect>;
  /** Resolves when there may be more, after `ms` at the latest. */
  news(ms: number, signal: AbortSignal): Promise<void>;
}

/** As that reader may see it. */
function seenBy(reader: Reader): (entry: EventEntry) => object {
  return reader.kind === 'agent' ? asAgentsSeeIt : (entry) => entry;
}

export class IntentFeed implements Feed {
  private readonly see: (entry: EventEntry) => object;
  private version: number;

  /** `after`: version of the last event that the reader has, as it was told. @throws Refusal `invalid_message` */
  constructor(
    private readonly store: Store,
    private readonly intentId: string,
    reader: Reader,
    after: string | undefined,
  ) {
    this.see = seenBy(reader);
    if (after !== undefined && !/^\d{1,9}$/.test(after)) throw unreadable(after, 'the version of an event, such as 3');
    this.version = Number(after ?? 0);
  }

  async *entries(): AsyncIterable<Entry> {
    for (const entry of timeline(await this.store.intents.history(this.intentId))) {
      if (entry.version <= this.version) continue;
      this.version = entry.version;
      yield { id: String(entry.version), type: entry.type, data: this.see(entry) };
    }
  }

  async prospect(): Promise<Prospect> {
    const intent = await this.store.intents.load(this.intentId);
    if (intent === null) return 'over';
    if (!isTerminal(intent) || intent.version > this.version) return 'open';
    return (await isFinal(this.store, intent)) ? 'over' : 'settled';
  }

  news(ms: number, signal: AbortSignal): Promise<void> {
    return this.store.changes.wait('intent', this.intentId, this.version, ms, signal);
  }
}

/** Nothing can happen to it any more, not even a correction. */
export async function isFinal(store: Store, intent: Intent): Promise<boolean> {
  if (!isTerminal(intent)) return false;
  const { intentId, terms } = intent.proposal;
  const history = await store.intents.history(intentId);
  return isFinished(
    history.map(({ event }) => event.type),
    terms.effect,
  );
}

/** Positions that are looked up at once; the events themselves are read one intent at a time. */
const pageSize = 200;
/** How soon what was withheld is looked for again, in ms. */
const withheldMs = 50;

export class RunFeed implements Feed {
  private readonly see: (entry: EventEntry) => object;
  private position: RunPosition;
  private total = 0;
  private withheld = false;

  /** `after`: id of the last entry that the reader has. @throws Refusal `invalid_message` */
  constructor(
    private readonly store: Store,
    private readonly runId: string,
    reader: Reader,
    after: string | undefined,
  ) {
    this.see = seenBy(reader);
    this.position = after === undefined ? runStart : readPosition(after);
  }

  async *entries(limit = pageSize): AsyncIterable<Entry> {
    const page = await this.store.runLog.after(this.runId, this.position, limit);
    this.total = page.total;
    this.withheld = page.withheld;
    let history: { readonly of: string; readonly events: readonly EventEntry[] } = { of: '', events: [] };
    for (const position of page.positions) {
      const { intentId, version } = position;
      if (history.of !== intentId) {
        history = { of: intentId, events: timeline(await this.store.intents.history(intentId)) };
      }
      this.position = position;
      const entry = history.events[version - 1];
      if (entry) yield { id: writePosition(position), type: entry.type, data: { intentId, ...this.see(entry) } };
    }
  }

  async prospect(): Promise<Prospect> {
    const run = await this.store.runs.find(this.runId);
    if (run && !run.closed && run.expiresAt > Date.now()) return 'open';
    const { positions, withheld, open } = await this.store.runLog.after(this.runId, this.position, 1);
    if (positions.length > 0 || withheld || open) return 'open';
    return (await this.store.runLog.mayBeCorrected(this.runId)) ? 'settled' : 'over';
  }

  news(ms: number, signal: AbortSignal): Promise<void> {
    return this.store.changes.wait(
      'run',
      this.runId,
      this.total,
      this.withheld ? Math.min(ms, withheldMs) : ms,
      signal,
    );
  }
}

const writePosition = ({ xid, intentId, version }: RunPosition) => `${xid}.${intentId}.${version}`;

/** @throws Refusal `invalid_message` */
export function readPosition(text: string): RunPosition {
  const [xid = '', intentId = '', version = '', ...more] = text.split('.');
  const sound = /^\d{1,18}$/.test(xid) && intentIdPattern.test(intentId) && /^\d{1,9}$/.test(version);
  if (!sound || more.length > 0) throw unreadable(text, 'the id of an event of this run, as the server sent it');
  return { xid, intentId, version: Number(version) };
}

function unreadable(got: string, expected: string): Refusal {
  return new Refusal('invalid_message', `Last-Event-ID or cursor: expected ${expected}; got "${got.slice(0, 80)}".`);
}
