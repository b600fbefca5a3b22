import { type Commit, doorbellSize, type OutboxMessage, publicEvent, type Ring, subjects } from '@intendant/contracts';
import { type Command, decide, evolve, type Intent, type IntentEvent, mayHaveRun, unproven } from '@intendant/intent';
import { newId } from '@intendant/runtime';
import {
  type AppendValues,
  appendValues,
  type Change,
  type GrantedStart,
  type LogRow,
  type Message,
  type PhasedStart,
} from './append-values.js';
import type { Asked, Book } from './book.js';
import type { Admission } from './facts.js';
import { hasOutcome } from './has-outcome.js';
import { isForDispatchers } from './projection.js';
import type { Result } from './result.js';
import type { Reservation, Starter } from './starter.js';
import type { Stream } from './stream.js';

export interface Pending {
  readonly commandId: string;
  readonly intentId: string;
  readonly key: string | null;
  readonly command: Command;
  /** For a record: what it needs, and who decides when that is not sure. */
  readonly admission?: Admission | undefined;
  /** How the caller last saw the intent. */
  readonly known?: Intent | undefined;
  /** It was to be recorded, and could not be, since its run is closed. */
  runClosed?: boolean;
  /** Its attempt was to start, and could not, since its run is not in a phase of the tool. */
  outOfPhase?: boolean;
  /** Its attempt was to start, and could not, since its grant is over. */
  grantOver?: boolean;
  /** For its first attempt, kept until its fate is known. */
  reservation?: Reservation;
}

/** How intents stand before a transaction. */
export type Streams = Map<string, Stream | Error>;

/** Intents that a transaction did not write, and what is known of why. */
export type Lost = ReadonlyMap<string, Pick<Pending, 'runClosed' | 'outOfPhase' | 'grantOver'>>;
export const noneLost: Lost = new Map();

/** A fact that came too late to change anything silently, and how the intent stands after it. */
export interface LateEvidence {
  readonly intent: Intent;
  readonly event: Extract<IntentEvent, { type: 'corrected' }>;
}

/** The decisions of one transaction and the rows that follow from them. */
export class Batch {
  private readonly byKey = new Map<string, string>();
  private readonly changes = new Map<string, Change>();
  private readonly starts: PhasedStart[] = [];
  private readonly granted: GrantedStart[] = [];
  private readonly log: LogRow[] = [];
  private readonly messages: Message[] = [];
  private readonly late: LateEvidence[] = [];
  private readonly answers: { intentId: string | null; result: Result | Error }[] = [];

  constructor(
    private readonly streams: Streams,
    private readonly now: number,
    private readonly starter: Starter | null,
    private readonly book: Book | null,
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
      // It was committed and nobody was told so, so nobody was told of what came too late either.
      const told = (stream.corrections ?? []).filter(({ commandId }) => commandId === pending.commandId);
      this.late.push(...told.map(({ event }) => ({ intent: before, event })));
      return { intentId: dependsOn, result: { kind: 'accepted', intent: before, events: [] } };
    }
    const decision = decide(before === null ? this.judged(pending) : asItStands(pending), before, this.now);
    if (pending.runClosed && decision.kind !== 'unchanged') {
      return { intentId: null, result: { kind: 'rejected', reason: 'run_closed', intent: null } };
    }
    if (decision.kind === 'rejected') {
      return { intentId: dependsOn, result: { kind: 'rejected', reason: decision.reason, intent: before } };
    }
    if (decision.kind === 'unchanged') {
      if (!before) throw new Error('a command cannot leave an intent unchanged that does not exist');
      return { intentId: dependsOn, result: { kind: 'unchanged', intent: before } };
    }
    const intent = this.apply(pending, id, before, decision.events);
    this.noteStart(pending, before, intent);
    if (before === null && pending.admission) this.book?.add(intent, pending.admission);
    const start = before === null ? this.startAtOnce(pending, intent) : [];
    if (start.length === 0) return { intentId: id, result: { kind: 'accepted', intent, events: decision.events } };
    const started = this.apply(pending, id, intent, start);
    return { intentId: id, result: { kind: 'accepted', intent: started, events: [...decision.events, ...start] } };
  }

  /** The command, by the facts where there are any. */
  private judged(pending: Pending): Command {
    const asked = askedBy(pending);
    if (!asked || !this.book?.covers(asked.admission.claim.runId)) return pending.command;
    const facts = this.book.factsFor(asked);
    if (facts.run?.closed) pending.runClosed = true;
    return pending.runClosed ? pending.command : asked.admission.judge(facts);
  }

  /** The transaction sees to it that the run is in a phase of the tool, and that a grant it goes by still stands. */
  private noteStart({ command }: Pending, before: Intent | null, { state, proposal }: Intent): void {
    if (command.type !== 'start_attempt' || state !== 'dispatching') return;
    if (before === null) return;
    const { intentId, runId, grant } = proposal;
    if (command.phases && !unproven(before.attempts)) this.starts.push({ intentId, runId, phases: command.phases });
    const isOpen = grant !== undefined && before.approvals === null && !mayHaveRun(before.attempts);
    if (isOpen) this.granted.push({ intentId, grant });
  }

  /** What starts the first attempt of an intent that was recorded just now, if somebody here has a slot for it. */
  private startAtOnce(pending: Pending, intent: Intent): readonly IntentEvent[] {
    if (!this.starter || intent.state !== 'authorized') return [];
    const reservation = pending.reservation ?? this.starter.reserve(intent);
    if (!reservation) return [];
    pending.reservation = reservation;
    const decision = decide({ type: 'start_attempt', attemptId: reservation.attemptId }, intent, this.now);
    return decision.kind === 'accepted' ? decision.events : [];
  }

  private apply(pending: Pending, id: string, before: Intent | null, events: readonly IntentEvent[]): Intent {
    let intent = before;
    const log: LogRow[] = [];
    const messages: Message[] = [];
    const late: LateEvidence[] = [];
    // Another process may have carried its clock a little further.
    const at = Math.max(this.now, before?.since ?? 0);
    for (const event of events) {
      intent = evolve(intent, event, at);
      log.push({ intentId: id, version: intent.version, event, commandId: pending.commandId, at });
      if (event.type === 'corrected') late.push({ intent, event });
      const message = publicEvent(event, intent, at);
      if (message) messages.push({ intentId: id, ...message });
    }
    if (!intent) throw new Error('no events');
    // Only now: what throws half-way must leave nothing behind for its neighbours' transaction.
    this.log.push(...log);
    this.late.push(...late);
    this.messages.push(...messages);
    const change = this.changes.get(id);
    if (change) change.intent = intent;
    else {
      this.changes.set(id, { before, admission: pending.admission ?? null, intent });
      this.byKey.set(intent.proposal.key, id);
    }
    return intent;
  }

  /** What is to be written. */
  values(): AppendValues {
    const waiting = this.toDispatch(noneLost).map(announced);
    for (let i = 0; i < waiting.length; i += doorbellSize) {
      const ring: Ring = { intents: waiting.slice(i, i + doorbellSize) };
      this.messages.push({ intentId: null, msgId: newId(), subject: subjects.dispatch, payload: JSON.stringify(ring) });
    }
    const { changes, starts, granted, log, messages, now, book } = this;
    return appendValues({ changes, starts, granted, log, messages, now, book });
  }

  /** Those that a dispatcher may take at once. */
  toDispatch(lost: Lost): Intent[] {
    return this.changed(
      lost,
      (intent) =>
        (intent.state === 'authorized' && intent.notBefore === null) ||
        (intent.state === 'awaiting_approval' && isForDispatchers(intent)),
    );
  }

  /** Those that have an outcome now. */
  outcomes(lost: Lost): Intent[] {
    return this.changed(lost, hasOutcome);
  }

  private changed(lost: Lost, wanted: (intent: Intent) => boolean): Intent[] {
    const intents: Intent[] = [];
    for (const [id, { intent }] of this.changes) if (wanted(intent) && !lost.has(id)) intents.push(intent);
    return intents;
  }

  commit(lost: Lost, settled: readonly Intent[]): Commit {
    return {
      dispatch: this.toDispatch(lost).map(announced),
      changed: settled.map((intent) => intent.proposal.intentId),
      cancel: this.changed(lost, isToBeAborted).map((intent) => intent.proposal.intentId),
    };
  }

  /** Evidence that came too late, of what was written. */
  lateEvidence(lost: Lost): LateEvidence[] {
    return this.late.filter(({ intent }) => !lost.has(intent.proposal.intentId));
  }

  /** What was written into the outbox. */
  announcements(lost: Lost): OutboxMessage[] {
    if (lost.size === this.changes.size) return [];
    return this.messages.filter(({ intentId }) => intentId === null || !lost.has(intentId));
  }

  /** In the order of the decisions; null where the change was not written. */
  results(lost: Lost): (Result | Error | null)[] {
    return this.answers.map(({ intentId, result }) => (intentId !== null && lost.has(intentId) ? null : result));
  }
}

function announced(intent: Intent): Ring['intents'][number] {
  const { intentId, tool, toolVersion, sandbox } = intent.proposal;
  const announced = { id: intentId, version: intent.version, tool, toolVersion };
  return sandbox ? { sandbox, ...announced } : announced;
}

function isToBeAborted(intent: Intent): boolean {
  return intent.state === 'dispatching' && intent.cancelledBy !== null;
}

function asItStands({ command, outOfPhase, grantOver }: Pending): Command {
  if (command.type !== 'start_attempt' || !(outOfPhase || grantOver)) return command;
  return { ...command, ...(outOfPhase && { outOfPhase }), ...(grantOver && { grantOver }) };
}

/** What a record that is to be admitted asks the book about. */
export function askedBy({ admission, command }: Pending): (Asked & { readonly admission: Admission }) | null {
  if (!admission || command.type !== 'record') return null;
  const { operation, likeness } = command.proposal;
  return { admission, operation: operation?.digest ?? null, likeness: likeness ?? null };
}
