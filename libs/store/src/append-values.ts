import type { OutboxMessage } from '@intendant/contracts';
import {
  furtherHoldings,
  type Holdings,
  holdingsOf,
  type Intent,
  type IntentEvent,
  noHoldings,
} from '@intendant/intent';
import type { Book } from './book.js';
import type { Admission, Expected } from './facts.js';
import { project } from './projection.js';
import { yieldsOf } from './yields.js';

/**
 * Between the values of a column that holds JSON texts, which never contain a control character: an array of them would
 * have to be escaped, text by text, and that costs more than everything else about a statement.
 */
export const jsonSeparator = '\x1f';

export interface Change {
  /** Null: the intent is new. */
  readonly before: Intent | null;
  readonly admission: Admission | null;
  intent: Intent;
}

export interface LogRow {
  readonly intentId: string;
  readonly version: number;
  readonly event: IntentEvent;
  readonly commandId: string;
  readonly at: number;
}

/** Without an intent it goes out when anything of the batch is written. */
export type Message = OutboxMessage & { readonly intentId: string | null };

/** An attempt that may start only while its run is in one of these phases. */
export interface PhasedStart {
  readonly intentId: string;
  readonly runId: string;
  readonly phases: readonly string[];
}

/** An attempt that may start only while a grant stands. */
export interface GrantedStart {
  readonly intentId: string;
  readonly grant: string;
}

interface Decisions {
  readonly starts: readonly PhasedStart[];
  readonly granted: readonly GrantedStart[];
  readonly changes: ReadonlyMap<string, Change>;
  readonly log: readonly LogRow[];
  readonly messages: readonly Message[];
  readonly now: number;
  readonly book: Book | null;
}

/** By the names they have in sql/append.ts; lists of one prefix are columns of one table. */
export type AppendValues = ReturnType<typeof appendValues>;

export function appendValues({ changes, starts, granted, log, messages, now, book }: Decisions) {
  const sorted = [...changes.values()].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  const rows = sorted.map(({ before, intent }) => ({ expected: before?.version ?? 0, intent, ...project(intent) }));
  const fresh = sorted.flatMap(({ before, intent }) => (before === null ? [intent.proposal] : []));
  const charges = sorted.flatMap(chargeOf);
  const expected = expectations(sorted, book);
  const wanted = sorted.flatMap(wantedBy);
  const yields = sorted.flatMap(({ before, intent }) => (before?.state === 'committed' ? [] : yieldsOf(intent)));
  return {
    now,

    ids: rows.map((r) => r.intent.proposal.intentId),
    expected: rows.map((r) => r.expected),
    versions: rows.map((r) => r.version),
    states: rows.map((r) => r.state),
    attempts: rows.map((r) => r.attempts),
    reasons: rows.map((r) => r.reason),
    leases: rows.map((r) => r.leaseUntil),
    wakes: rows.map((r) => r.wakeAt),
    expiries: rows.map((r) => r.expiresAt),
    sinces: rows.map((r) => r.since),
    calls: rows.map((r) => r.calls),
    costs: rows.map((r) => r.cost),
    holds: rows.map((r) => r.held),
    operations: rows.map((r) => r.operation),
    operationWindows: rows.map((r) => r.intent.proposal.operation?.windowMs ?? null),

    freshIds: fresh.map((p) => p.intentId),
    tenants: fresh.map((p) => p.tenant),
    runs: fresh.map((p) => p.runId),
    steps: fresh.map((p) => p.stepId),
    tools: fresh.map((p) => p.tool),
    toolVersions: fresh.map((p) => p.toolVersion),
    effects: fresh.map((p) => p.terms.effect),
    keys: fresh.map((p) => p.key),
    fingerprints: fresh.map((p) => p.fingerprint),
    sandboxes: fresh.map((p) => p.sandbox),
    likenesses: fresh.map((p) => p.likeness ?? null),
    gists: fresh.map((p) => p.gist ?? null),
    grantIds: fresh.map((p) => p.grant ?? null),
    grantStamps: fresh.map((p) => book?.stampOf(p.grant) ?? null),

    chargeIds: charges.map((c) => c.intentId),
    chargeRuns: charges.map((c) => c.runId),
    chargeCalls: charges.map((c) => c.further.calls),
    chargeMutating: charges.map((c) => c.further.mutating),
    chargeDestructive: charges.map((c) => c.further.destructive),
    chargeCosts: charges.map((c) => c.further.cost),
    chargeFresh: charges.map((c) => c.fresh),
    chargeTaints: charges.map((c) => c.taints),
    chargeDenied: charges.map((c) => c.denied),
    chargeRefuses: charges.map((c) => c.refuses),

    accountRuns: expected.map((x) => x.runId),
    accountRevisions: expected.map((x) => x.revision),
    accountStamps: expected.map((x) => x.stamp),
    accountCalls: expected.map((x) => x.used?.calls ?? null),
    accountMutating: expected.map((x) => x.used?.mutating ?? null),
    accountDestructive: expected.map((x) => x.used?.destructive ?? null),
    accountCosts: expected.map((x) => x.used?.cost ?? null),
    accountExact: expected.map((x) => x.exact),

    bucketIds: wanted.map((w) => w.rate.id),
    bucketIntents: wanted.map((w) => w.intentId),
    bucketRates: wanted.map((w) => w.rate.perMs),
    bucketCapacities: wanted.map((w) => w.rate.capacity),

    phasedIds: starts.map((s) => s.intentId),
    phasedRuns: starts.map((s) => s.runId),
    phases: starts.map((s) => s.phases.join(',')),

    grantedIds: granted.map((g) => g.intentId),
    grantedGrants: granted.map((g) => g.grant),

    yieldIntents: yields.map((y) => y.intentId),
    yieldRuns: yields.map((y) => y.runId),
    yieldDigests: yields.map((y) => y.digest),
    yieldSources: yields.map((y) => y.source),

    logIds: log.map((l) => l.intentId),
    logVersions: log.map((l) => l.version),
    logTypes: log.map((l) => l.event.type),
    logData: log.map((l) => dataOf(l.event)).join(jsonSeparator),
    logCommands: log.map((l) => l.commandId),
    logTimes: log.map((l) => l.at),

    messageIntents: messages.map((m) => m.intentId),
    messageIds: messages.map((m) => m.msgId),
    subjects: messages.map((m) => m.subject),
    payloads: messages.map((m) => m.payload).join(jsonSeparator),
  };
}

function idOf({ intent }: Change): string {
  return intent.proposal.intentId;
}

interface Charge {
  readonly intentId: string;
  readonly runId: string;
  readonly further: Holdings;
  readonly fresh: boolean;
  readonly taints: boolean;
  readonly denied: number;
  /** A person has said no: whatever is decided about this run has to know. */
  readonly refuses: boolean;
}

/** What a change takes of its run. What it gives back is counted when it is needed (docs/decisions/0022). */
function chargeOf({ before, intent }: Change): Charge[] {
  const further = furtherHoldings(before === null ? noHoldings : holdingsOf(before), holdingsOf(intent));
  const taints = broughtForeignText(intent) && (before === null || !broughtForeignText(before));
  const denied = before === null && intent.state === 'denied' ? 1 : 0;
  const { calls, mutating, destructive, cost } = further;
  const refuses = before !== null && wasRefused(intent) && !wasRefused(before);
  if (!taints && !refuses && calls + mutating + destructive + cost + denied === 0) return [];
  const { intentId, runId } = intent.proposal;
  return [{ intentId, runId, further, fresh: before === null, taints, denied, refuses }];
}

function wasRefused(intent: Intent): boolean {
  return intent.state === 'denied' && intent.failure.code === 'approval_refused';
}

/** Words from outside are in an error as well as in a result, and in whatever is told of an attempt on the way. */
function broughtForeignText({ proposal, attempts }: Intent): boolean {
  return proposal.terms.untrusted === true && attempts.some(({ sent, verdict }) => sent && verdict !== 'open');
}

/** Of each run in which something new is recorded. */
function expectations(changes: readonly Change[], book: Book | null): Expected[] {
  const byRun = new Map<string, Expected>();
  for (const { before, admission, intent } of changes) {
    if (before !== null) continue;
    const { runId } = intent.proposal;
    const own = { revision: admission?.claim.revision ?? null, exact: admission?.claim.exact ?? false };
    const all = byRun.get(runId) ?? { runId, ...own, ...(book?.countOf(runId) ?? { stamp: null, used: null }) };
    byRun.set(runId, {
      ...all,
      exact: all.exact || own.exact,
      // Whoever goes by an older one has to decide again, and the others with it.
      revision:
        all.revision === null || (own.revision !== null && own.revision < all.revision) ? own.revision : all.revision,
    });
  }
  return [...byRun.values()];
}

function wantedBy({ before, admission, intent }: Change) {
  if (before !== null || admission === null || intent.state === 'denied') return [];
  const { intentId } = intent.proposal;
  return admission.claim.rates.map((rate) => ({ rate, intentId }));
}

function dataOf(event: IntentEvent): string {
  const { type: _, ...data } = event;
  return JSON.stringify(data);
}
