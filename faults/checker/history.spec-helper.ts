import { argsHash } from '../history/args-hash.js';
import type { PublishedEvent } from '../history/bus.js';
import type { ClientAnswer, ClientEntry } from '../history/clients.js';
import type { EventRow, IntentRow } from '../history/database.js';
import type { FaultEntry } from '../history/faults.js';
import type { History, HistoryMeta, ToolPromise } from '../history/history.js';
import type { LedgerEntry } from '../history/ledger.js';
import type { ProcessEntry } from '../history/processes.js';
import type { SentEntry } from '../history/sent.js';

/** The same, to be changed by a test. */
export type Editable<T> = T extends readonly (infer E)[]
  ? Editable<E>[]
  : T extends object
    ? { -readonly [K in keyof T]: Editable<T[K]> }
    : T;

const promise: ToolPromise = {
  effect: 'write',
  guarantee: 'idempotency_key',
  settleMs: 1_000,
  spacingMs: 500,
  retentionMs: 60_000,
  leaseMs: 3_000,
  maxAttempts: 3,
  authoritative: true,
};

export const tools = {
  keyed: promise,
  keyonly: { ...promise, authoritative: false },
  searched: { ...promise, guarantee: 'lookup', retentionMs: 0 },
  blind: { ...promise, guarantee: 'none', retentionMs: 0, authoritative: false },
  read: { ...promise, effect: 'read', guarantee: 'none', retentionMs: 0 },
} as const satisfies Record<string, ToolPromise>;

export type ToolName = keyof typeof tools;

const runId = 'run_1';
const tenant = 'acme';

/** Announced by the product, in its public contract. */
const publicTypes = [
  'approval_requested',
  'denied',
  'outcome_unknown',
  'dead_lettered',
  'committed',
  'failed',
  'cancelled',
  'expired',
  'corrected',
];

/** Writes a history line by line; every line is 10 ms after the one before. */
export class HistoryWriter {
  readonly clients: Editable<ClientEntry>[] = [];
  readonly ledger: Editable<LedgerEntry>[] = [];
  readonly faults: Editable<FaultEntry>[] = [];
  readonly sent: Editable<SentEntry>[] = [];
  readonly events: Editable<EventRow>[] = [];
  readonly intents: Editable<IntentRow>[] = [];
  readonly published: Editable<PublishedEvent>[] = [];
  readonly processes: Editable<ProcessEntry>[] = [
    { name: 'dispatcher/0', expected: 'running', found: 'running', crashes: 0, errors: [] },
  ];
  excuses: Editable<HistoryMeta['excuses']> = { streamsLost: false, beyondLimits: [], silentTools: [] };
  private now = 1_000_000;

  tick(ms = 10): number {
    this.now += ms;
    return this.now;
  }

  fault(kind: string, target: string, phase: 'begin' | 'end' = 'begin'): this {
    this.faults.push({ at: this.tick(), kind, phase, target });
    return this;
  }

  intent(ref: string, tool: ToolName, stepId: string | null = `step-${ref}`): IntentWriter {
    return new IntentWriter(this, ref, tool, stepId);
  }

  history(): Editable<History> {
    const healedAt = this.tick();
    const history: Editable<History> = {
      meta: {
        name: 'by hand',
        seed: 1,
        startedAt: 1_000_000,
        healedAt,
        frozenAt: healedAt + 20_000,
        boundMs: 10_000,
        tools,
        permanent: [],
        excuses: this.excuses,
      },
      clients: this.clients,
      ledger: this.ledger,
      faults: this.faults,
      sent: this.sent,
      database: {
        events: this.events,
        intents: this.intents,
        outbox: [],
        deadMessages: [],
        sessions: [{ application: 'dispatcher', total: 3, inTransaction: 0 }],
      },
      bus: {
        streams: [{ name: 'INTENDANT_EVENTS', messages: this.published.length }],
        consumers: [{ stream: 'INTENDANT_WORK', name: 'dispatcher', ackPending: 0, pending: 0 }],
        published: this.published,
      },
      processes: this.processes,
    };
    return structuredClone(history);
  }
}

/** Writes what happens to one intent; its id is `id-<ref>`, its key `key-<ref>`, attempts are `<ref>-1`, `<ref>-2` … */
export class IntentWriter {
  readonly id: string;
  private readonly row: Editable<IntentRow>;
  private attempts = 0;
  private requests = 0;

  constructor(
    private readonly writer: HistoryWriter,
    readonly ref: string,
    private readonly tool: ToolName,
    private readonly stepId: string | null,
  ) {
    this.id = `id-${ref}`;
    this.row = {
      id: this.id,
      tenant,
      runId,
      stepId,
      tool,
      effect: tools[tool].effect,
      key: `key-${ref}`,
      fingerprint: argsHash({ ref }),
      state: 'pending',
      version: 0,
      attempts: 0,
      reason: null,
      leaseUntil: null,
      wakeAt: null,
    };
  }

  /** One request of a client, and what it was told: null for no answer, left out for an acknowledgement. */
  call(
    operation: ClientEntry['operation'],
    answer: Partial<ClientAnswer> | null = {},
    more: Partial<ClientEntry> = {},
  ): this {
    const entry = {
      requestId: `request-${this.ref}-${++this.requests}`,
      operation,
      via: 'http',
      ref: this.ref,
      tool: this.tool,
      runId,
      stepId: this.stepId,
      argsHash: operation === 'submit' ? this.row.fingerprint : null,
      ...more,
    } as const;
    this.writer.clients.push({ ...entry, at: this.writer.tick(), phase: 'invoke' });
    const at = this.writer.tick();
    if (answer === null) this.writer.clients.push({ ...entry, at, phase: 'unanswered', problem: 'reset' });
    else {
      const nothing = { httpStatus: null, intentId: null, status: null, code: null, outcome: null, replayed: false };
      this.writer.clients.push({ ...entry, at, phase: 'answered', answer: { ...nothing, ...answer } });
    }
    return this;
  }

  told(operation: ClientEntry['operation'], status: string, outcome: string, replayed = false): this {
    return this.call(operation, { httpStatus: 200, intentId: this.id, status, outcome, replayed });
  }

  recorded(): this {
    const { key, fingerprint } = this.row;
    const { id: intentId, stepId, tool, ref } = this;
    return this.event('recorded', {
      proposal: { intentId, tenant, runId, user: 'ada', stepId, tool, key, fingerprint, args: { ref } },
    });
  }

  /** People are asked, `quorum` of them; it expires after `ttlMs`. */
  requested(digest = 'd1', { quorum = 1, ttlMs = 60_000, differs }: Asked = {}): this {
    const expiresAt = this.writer.tick() + ttlMs;
    const demands = [{ rule: 'approval', message: 'a person has to agree' }];
    const request = { digest, quorum, expiresAt, selfApproval: false, demands };
    return this.event('approval_requested', { request, ...(differs && { differs }) });
  }

  approved(by: string, digest = 'd1'): this {
    return this.event('approved', { by, digest });
  }

  authorized(basis = 'admitted'): this {
    return this.event('authorized', { basis, notBefore: null, resendUntil: null });
  }

  started(): this {
    this.attempts += 1;
    const attempt = this.attempts;
    const leaseUntil = this.writer.tick() + tools[this.tool].leaseMs;
    return this.event('attempt_started', { attempt, attemptId: this.attemptId(attempt), leaseUntil });
  }

  event(type: string, data: Readonly<Record<string, unknown>> = {}): this {
    const at = this.writer.tick();
    const version = this.row.version + 1;
    this.row.version = version;
    const { id: intentId } = this;
    this.writer.events.push({
      ...{ intentId, version, type, data, commandId: `command-${intentId}-${version}` },
      ...{ recordedAt: Math.floor(at - 2), committedAt: at },
    });
    if (publicTypes.includes(type)) this.publish(type, version);
    return this;
  }

  publish(type: string, version: number, msgId = `${this.id}-${version}`): this {
    this.writer.published.push({
      msgId,
      subject: `intendant.events.${tenant}.${runId}.${this.id}.${type}`,
      type: `intendant.intent.${type}`,
      intentId: this.id,
      version,
      stored: true,
      heard: 1,
    });
    return this;
  }

  request(attempt = this.attempts): this {
    this.writer.sent.push({ attemptId: this.attemptId(attempt), at: this.writer.tick() });
    return this.line({ kind: 'request', method: 'POST', ...this.wire(attempt) });
  }

  effect(attempt = this.attempts, externalId = `eff-${this.ref}-${attempt}`, answer?: Record<string, unknown>): this {
    return this.line({ kind: 'effect', externalId, ...(answer && { answer }), ...this.wire(attempt) });
  }

  asked(answer: string, kind: 'lookup' | 'poll' = 'lookup'): this {
    return this.line({ kind, path: '/effects/x', key: this.row.key, answer });
  }

  /** Nothing happens for so long. */
  after(ms: number): this {
    this.writer.tick(ms);
    return this;
  }

  /** It settled, and was found absent twice. */
  ruledOut(): this {
    return this.after(1_000)
      .asked('absent')
      .event('lookup_absent', { absences: 1, dueAt: 0 })
      .after(500)
      .asked('absent')
      .event('lookup_absent', { absences: 2, dueAt: 0 });
  }

  /** The row at the end, as the product would have it. */
  ends(state: string, reason: string | null): this {
    this.writer.intents.push({ ...this.row, attempts: this.attempts, state, reason });
    return this;
  }

  private attemptId(attempt: number): string {
    return `${this.ref}-${attempt}`;
  }

  private wire(attempt: number) {
    return {
      path: '/effects/x',
      key: this.row.key,
      attemptId: this.attemptId(attempt),
      argsHash: this.row.fingerprint,
    };
  }

  private line(line: DistributiveOmit<LedgerEntry, 'seq' | 'at'>): this {
    this.writer.ledger.push({ ...line, seq: this.writer.ledger.length + 1, at: this.writer.tick() });
    return this;
  }
}

interface Asked {
  readonly quorum?: number;
  readonly ttlMs?: number;
  readonly differs?: readonly string[];
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
