import { type Commit, doorbellSize, type OutboxMessage, publicEvent, type Ring, subjects } from '@intendant/contracts';
import { type Command, decide, evolve, type Intent, type IntentEvent, type Proposal } from '@intendant/intent';
import { newId } from '@intendant/runtime';
import { hasOutcome } from './has-outcome.js';
import { project } from './projection.js';
import type { Result } from './result.js';
import type { Stream } from './stream.js';

export interface Pending {
  readonly commandId: string;
  readonly intentId: string;
  readonly key: string | null;
  readonly command: Command;
}

interface Change {
  readonly expected: number;
  /** Set when the intent is new. */
  readonly proposal: Proposal | null;
  intent: Intent;
}
interface LogRow {
  readonly intentId: string;
  readonly version: number;
  readonly event: IntentEvent;
  readonly commandId: string;
}

/** The decisions of one transaction and the rows that follow from them. */
export class Batch {
  private readonly byKey = new Map<string, string>();
  private readonly changes = new Map<string, Change>();
  private readonly log: LogRow[] = [];
  private readonly messages: (OutboxMessage & { intentId: string | null })[] = [];
  private readonly answers: { intentId: string | null; result: Result | Error }[] = [];

  constructor(
    private readonly streams: Map<string, Stream | Error>,
    private readonly now: number,
  ) {
    for (const [id, stream] of streams) {
      if (!(stream instanceof Error)) this.byKey.set(stream.intent.proposal.key, id);
    }
  }

  get isEmpty(): boolean {
    return this.changes.size === 0;
  }

  /** A decision that throws is that command's own answer. */
  decide(pending: Pending): void {
    const id = (pending.key === null ? undefined : this.byKey.get(pending.key)) ?? pending.intentId;
    try {
      this.answers.push(this.answer(pending, id));
    } catch (error) {
      this.answers.push({ intentId: null, result: error as Error });
    }
  }

  private answer(pending: Pending, id: string): { intentId: string | null; result: Result } {
    const stream = this.streams.get(id);
    if (stream instanceof Error) throw stream;
    const before = this.changes.get(id)?.intent ?? stream?.intent ?? null;
    // Depends on a change of this same transaction, so it is only true if that change is committed.
    const dependsOn = this.changes.has(id) ? id : null;
    if (before && stream?.commands.has(pending.commandId)) {
      return { intentId: dependsOn, result: { kind: 'accepted', intent: before, events: [] } };
    }
    const decision = decide(pending.command, before, this.now);
    if (decision.kind === 'rejected') {
      return { intentId: dependsOn, result: { kind: 'rejected', reason: decision.reason, intent: before } };
    }
    if (decision.kind === 'unchanged') {
      if (!before) throw new Error('a command cannot leave an intent unchanged that does not exist');
      return { intentId: dependsOn, result: { kind: 'unchanged', intent: before } };
    }
    const intent = this.apply(pending, id, before, decision.events);
    return { intentId: id, result: { kind: 'accepted', intent, events: decision.events } };
  }

  private apply(pending: Pending, id: string, before: Intent | null, events: readonly IntentEvent[]): Intent {
    let intent = before;
    const log: LogRow[] = [];
    const messages: (OutboxMessage & { intentId: string })[] = [];
    for (const event of events) {
      intent = evolve(intent, event, this.now);
      log.push({ intentId: id, version: intent.version, event, commandId: pending.commandId });
      const message = publicEvent(event, intent, this.now);
      if (message) messages.push({ ...message, intentId: id });
    }
    if (!intent) throw new Error('no events');
    // Only now: what throws half-way must leave nothing behind for its neighbours' transaction.
    this.log.push(...log);
    this.messages.push(...messages);
    const change = this.changes.get(id);
    if (change) change.intent = intent;
    else {
      const proposal = before === null ? intent.proposal : null;
      this.changes.set(id, { expected: before?.version ?? 0, proposal, intent });
      this.byKey.set(intent.proposal.key, id);
    }
    return intent;
  }

  /** Parameters of sql/append.ts. */
  parameters(): unknown[] {
    const changes = [...this.changes].sort(([a], [b]) => (a < b ? -1 : 1));
    const rows = changes.map(([id, { expected, intent }]) => ({ id, expected, ...project(intent) }));
    const fresh = changes.flatMap(([, { proposal }]) => proposal ?? []);
    for (const ring of this.rings()) {
      this.messages.push({ intentId: null, msgId: newId(), subject: subjects.dispatch, payload: JSON.stringify(ring) });
    }
    return [
      rows.map((r) => r.id),
      rows.map((r) => r.expected),
      rows.map((r) => r.version),
      rows.map((r) => r.state),
      rows.map((r) => r.attempts),
      rows.map((r) => r.reason),
      rows.map((r) => r.leaseUntil),
      rows.map((r) => r.wakeAt),
      rows.map((r) => r.expiresAt),
      rows.map((r) => r.since),
      fresh.map((p) => p.intentId),
      fresh.map((p) => p.tenant),
      fresh.map((p) => p.runId),
      fresh.map((p) => p.stepId),
      fresh.map((p) => p.tool),
      fresh.map((p) => p.toolVersion),
      fresh.map((p) => p.terms.effect),
      fresh.map((p) => p.key),
      fresh.map((p) => p.fingerprint),
      this.log.map((l) => l.intentId),
      this.log.map((l) => l.version),
      this.log.map((l) => l.event.type),
      this.log.map((l) => dataOf(l.event)),
      this.log.map((l) => l.commandId),
      this.log.map(() => this.now),
      this.messages.map((m) => m.intentId),
      this.messages.map((m) => m.msgId),
      this.messages.map((m) => m.subject),
      this.messages.map((m) => m.payload),
    ];
  }

  private rings(): Ring[] {
    const waiting = this.ready(() => true);
    const rings: Ring[] = [];
    for (let i = 0; i < waiting.length; i += doorbellSize) rings.push({ intents: waiting.slice(i, i + doorbellSize) });
    return rings;
  }

  /** Authorized and not held back: a dispatcher may take it at once. */
  private ready(done: (id: string) => boolean): Ring['intents'] {
    return [...this.changes].flatMap(([id, { intent }]) =>
      intent.state === 'authorized' && intent.notBefore === null && done(id)
        ? [{ id, version: intent.version, tool: intent.proposal.tool, toolVersion: intent.proposal.toolVersion }]
        : [],
    );
  }

  /** Those that have an outcome now. */
  outcomes(done: ReadonlySet<string>): Intent[] {
    return [...this.changes].flatMap(([id, { intent }]) => (done.has(id) && hasOutcome(intent) ? [intent] : []));
  }

  commit(done: ReadonlySet<string>): Commit {
    const changed = this.outcomes(done).map((intent) => intent.proposal.intentId);
    return { dispatch: this.ready((id) => done.has(id)), changed, outbox: this.messages.length > 0 };
  }

  /** In the order of the decisions; null where the change was not committed because somebody else was faster. */
  results(done: ReadonlySet<string>): (Result | Error | null)[] {
    return this.answers.map(({ intentId, result }) => (intentId === null || done.has(intentId) ? result : null));
  }
}

function dataOf(event: IntentEvent): string {
  const { type: _, ...data } = event;
  return JSON.stringify(data);
}
