import type { ClientAnswer, ClientEntry } from './clients.js';
import type { EventRow } from './database.js';
import type { FaultEntry } from './faults.js';
import type { History } from './history.js';
import type { LedgerEntry } from './ledger.js';

export interface Line {
  readonly at: number;
  readonly kind: LedgerEntry['kind'];
  readonly attemptId?: string;
  /** Of a lookup or a poll. */
  readonly answer?: string;
}
export type Told = { readonly at: number; readonly answer?: Partial<ClientAnswer> } & Partial<
  Omit<ClientEntry, 'answer'>
>;

export interface Parts {
  /** `[time, type, data]`, versions in this order. */
  readonly events?: readonly (readonly [at: number, type: string, data?: Record<string, unknown>])[];
  readonly ledger?: readonly Line[];
  readonly clients?: readonly Told[];
  readonly faults?: readonly FaultEntry[];
  readonly heard?: number;
}

/** ULID of the time 100 ms. */
export const idAt100 = '00000000340000000000000000';

export const attempt = (number = 1, leaseUntil = 5_000) =>
  ({ attempt: number, attemptId: `attempt-${number}`, leaseUntil }) as const;

const noAnswer: ClientAnswer = {
  ...{ httpStatus: null, intentId: null, status: null, code: null, outcome: null },
  replayed: false,
};

/** A history of one intent, `i1` with the key `k1` and the ref `r1`. */
export function historyOf({ events = [], ledger = [], clients = [], faults = [], heard = 1 }: Parts): History {
  const rows = events.map(
    ([at, type, data = {}], i): EventRow => ({
      ...{ intentId: 'i1', version: i + 1, type, data, commandId: `c${i}`, recordedAt: at, committedAt: at },
    }),
  );
  return {
    meta: {
      ...{ name: 'made by hand', seed: 1, startedAt: 0, healedAt: 50_000, frozenAt: 60_000, boundMs: 10_000 },
      ...{ tools: {}, permanent: [], excuses: { streamsLost: false, beyondLimits: [], silentTools: [] } },
    },
    clients: clients.map(({ answer, ...entry }, i) => ({
      ...{ requestId: `q${i}`, phase: answer ? 'answered' : 'invoke', operation: 'submit', via: 'http' },
      ...{ ref: 'r1', tool: 'faults.keyed', runId: 'run1', stepId: 's1', argsHash: 'h1' },
      ...(answer && { answer: { ...noAnswer, ...answer } }),
      ...entry,
    })) as ClientEntry[],
    ledger: ledger.map((line, i) => ({
      ...{ seq: i + 1, kind: 'request', path: '/effects/keyed', method: 'POST', key: 'k1' },
      ...{ attemptId: 'attempt-1', argsHash: 'h1', externalId: 'e1', answer: 'absent' },
      ...line,
    })) as LedgerEntry[],
    faults,
    database: {
      events: rows,
      intents: [
        {
          ...{
            id: 'i1',
            tenant: 'acme',
            runId: 'run1',
            stepId: 's1',
            tool: 'faults.keyed',
            effect: 'write',
            key: 'k1',
          },
          ...{ fingerprint: 'f1', state: 'committed', version: rows.length, attempts: 1, reason: null },
          ...{ leaseUntil: null, wakeAt: null },
        },
      ],
      ...{ outbox: [], deadMessages: [], sessions: [] },
    },
    bus: {
      ...{ streams: [], consumers: [] },
      published: [{ msgId: 'i1-3', subject: 's', type: 'committed', intentId: 'i1', version: 3, stored: true, heard }],
    },
    processes: [],
  };
}

/** Something broken from `from` to `to`; without `to` it is over at once. */
export function outage(
  kind: string,
  target: string,
  from: number,
  to?: number,
  detail?: FaultEntry['detail'],
): FaultEntry[] {
  const entry = { kind, target, ...(detail && { detail }) };
  const begin: FaultEntry = { ...entry, at: from, phase: 'begin' };
  return to === undefined ? [begin] : [begin, { ...entry, at: to, phase: 'end' }];
}
