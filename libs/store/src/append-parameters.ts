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
import { jsonSeparator } from './sql/append.js';
import { yieldsOf } from './yields.js';

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

/** Parameters of sql/append.ts. */
export function appendParameters({ changes, starts, granted, log, messages, now, book }: Decisions): unknown[] {
  const sorted = [...changes.values()].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  const rows = sorted.map(({ before, intent }) => ({ expected: before?.version ?? 0, intent, ...project(intent) }));
  const fresh = sorted.flatMap(({ before, intent }) => (before === null ? [intent.proposal] : []));
  const charges = sorted.flatMap(chargeOf);
  const expected = expectations(sorted, book);
  const wanted = sorted.flatMap(wantedBy);
  const yields = sorted.flatMap(({ before, intent }) => (before?.state === 'committed' ? [] : yieldsOf(intent)));
  return [
    rows.map((r) => r.intent.proposal.intentId),
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
    log.map((l) => l.intentId),
    log.map((l) => l.version),
    log.map((l) => l.event.type),
    log.map((l) => dataOf(l.event)).join(jsonSeparator),
    log.map((l) => l.commandId),
    log.map((l) => l.at),
    now,
    messages.map((m) => m.intentId),
    messages.map((m) => m.msgId),
    messages.map((m) => m.subject),
    messages.map((m) => m.payload).join(jsonSeparator),
    fresh.map((p) => p.sandbox),
    rows.map((r) => r.calls),
    rows.map((r) => r.cost),
    rows.map((r) => r.held),
    rows.map((r) => r.operation),
    rows.map((r) => r.intent.proposal.operation?.windowMs ?? null),
    charges.map((c) => c.intentId),
    charges.map((c) => c.runId),
    charges.map((c) => c.further.calls),
    charges.map((c) => c.further.mutating),
    charges.map((c) => c.further.destructive),
    charges.map((c) => c.further.cost),
    charges.map((c) => c.fresh),
    charges.map((c) => c.taints),
    expected.map((x) => x.runId),
    expected.map((x) => x.revision),
    expected.map((x) => x.stamp),
    expected.map((x) => x.used?.calls ?? null),
    expected.map((x) => x.used?.mutating ?? null),
    expected.map((x) => x.used?.destructive ?? null),
    expected.map((x) => x.used?.cost ?? null),
    wanted.map((w) => w.rate.id),
    wanted.map((w) => w.intentId),
    wanted.map((w) => w.rate.perMs),
    wanted.map((w) => w.rate.capacity),
    fresh.map((p) => p.likeness ?? null),
    yields.map((y) => y.intentId),
    yields.map((y) => y.runId),
    yields.map((y) => y.digest),
    yields.map((y) => y.source),
    starts.map((s) => s.intentId),
    starts.map((s) => s.runId),
    starts.map((s) => s.phases.join(',')),
    charges.map((c) => c.denied),
    expected.map((x) => x.exact),
    charges.map((c) => c.refuses),
    fresh.map((p) => p.gist ?? null),
    fresh.map((p) => p.grant ?? null),
    fresh.map((p) => book?.stampOf(p.grant) ?? null),
    granted.map((g) => g.intentId),
    granted.map((g) => g.grant),
  ];
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
