import { type Budgets, redacted } from '@intendant/contracts';
import type { OperatorIdentity } from '@intendant/credentials';
import {
  type ApprovalRequest,
  type Approvals,
  type Approver,
  type Command,
  decide,
  givenTo,
  type Holdings,
  type Intent,
  type JsonObject,
  newestOf,
  type Preview,
} from '@intendant/intent';
import { wallClock } from '@intendant/runtime';
import type { IntentListing, Store } from '@intendant/store';
import { approvalExpired, rejected } from './command-answer.js';
import type { Action } from './dead-letters.js';

/** Intents of the run that a card shows. */
const shownHistory = 20;

/** What waits for people, in a line. */
export interface ApprovalListing {
  /** Id of the intent. */
  readonly id: string;
  readonly tenant: string;
  readonly tool: string;
  readonly effect: string;
  readonly sandbox: boolean;
  readonly requester: string;
  readonly view: string;
  /** To be sent back with the decision: it stands for everything on the card. */
  readonly digest: string;
  readonly quorum: number;
  /** How many have agreed to it as it is now. */
  readonly given: number;
  readonly requestedAt: string;
  readonly expiresAt: string;
}

/** Everything that a person needs to decide. */
export interface ApprovalCard extends Omit<ApprovalListing, 'given'> {
  readonly status: Intent['state'];
  readonly runId: string;
  readonly stepId: string | null;
  readonly toolVersion: number;
  /** Why a person is asked. */
  readonly why: ApprovalRequest['demands'];
  /** What was different when it was to be sent, so that it is asked about anew; empty: nothing. */
  readonly differs: readonly string[];
  /** What the agent has proposed, and what the runtime adds, without what nobody is shown. */
  readonly args: JsonObject;
  readonly injected: JsonObject;
  readonly impact: string | null;
  readonly reversible: boolean | null;
  readonly undo: string | null;
  readonly preview: Preview | null;
  readonly given: readonly { readonly by: string; readonly at: string }[];
  /** Who has agreed to it as it was before, which stands for that. */
  readonly earlier: readonly { readonly by: string; readonly at: string }[];
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  /** Units. */
  readonly cost: number;
  /** Id of the intent by which the run had read text from outside; null: it had not. */
  readonly taintedBy: string | null;
  readonly alike: {
    readonly id: string;
    readonly status: string;
    readonly recordedAt: string;
    readonly args: JsonObject;
  } | null;
  readonly run: {
    readonly profile: string;
    readonly phase: string | null;
    readonly openedBy: string;
    readonly openedAt: string;
    readonly expiresAt: string;
    /** Nobody goes on with it; what waits is sent all the same once it is agreed to. */
    readonly closed: boolean;
    /** What is left of its budgets, this call taken off already; null: no limit. */
    readonly left: {
      readonly calls: number | null;
      readonly mutating: number | null;
      readonly destructive: number | null;
      readonly cost: number | null;
    };
    /** What it had asked for before this, the newest first. */
    readonly history: readonly Pick<IntentListing, 'intentId' | 'tool' | 'status' | 'reason' | 'recordedAt'>[];
  } | null;
  /** What the operator who reads it can do about it. */
  readonly actions: readonly Action[];
}

/** @param intent that people were asked about */
export function approvalListing(intent: Intent): ApprovalListing {
  const { proposal, approvals } = intent;
  if (approvals === null) throw new Error(`nobody was asked about intent ${proposal.intentId}`);
  const request = shownOf(intent, approvals);
  const { view, digest, quorum, expiresAt } = request;
  const { intentId, tenant, tool, terms, sandbox, user } = proposal;
  return {
    ...{ id: intentId, tenant, tool, effect: terms.effect, sandbox, requester: user, view, digest, quorum },
    given: givenTo(approvals, request).length,
    requestedAt: iso(intent.recordedAt),
    expiresAt: iso(expiresAt),
  };
}

export async function approvalCard(store: Store, operator: OperatorIdentity, intent: Intent): Promise<ApprovalCard> {
  const { proposal, approvals } = intent;
  if (approvals === null) throw new Error(`nobody was asked about intent ${proposal.intentId}`);
  const request = shownOf(intent, approvals);
  const { impact, reversible, undo, preview, roles, groups, redact, demands } = request;
  const { runId, stepId, toolVersion, args, injected, cost = 0, taintedBy = null } = proposal;
  const [run, alike] = await Promise.all([runOf(store, intent), alikeOf(store, request)]);
  const givenOn = (wanted: (digest: string) => boolean) =>
    approvals.given.filter(({ digest }) => wanted(digest)).map(({ by, at }) => ({ by, at: iso(at) }));
  return {
    ...approvalListing(intent),
    ...{ status: intent.state, runId, stepId, toolVersion, why: demands, differs: approvals.differs },
    ...{ args: redacted(args, redact), injected, impact, reversible, undo, preview, roles, groups },
    given: givenOn((digest) => digest === request.digest),
    earlier: givenOn((digest) => digest !== request.digest),
    ...{ cost: cost / micros, taintedBy, alike, run },
    actions: actionsOn(intent, approverOf(operator), request.digest),
  };
}

/** By which it was sent; while it waits, what is asked now. */
function shownOf({ state, attempts }: Intent, approvals: Approvals): ApprovalRequest {
  const waits = state === 'awaiting_approval' || state === 'authorized';
  const used = waits ? undefined : attempts.at(-1)?.approval;
  return approvals.requests.find(({ digest }) => digest === used) ?? newestOf(approvals);
}

/** With all roles where it is `admin`; groups are only those that were given. */
export function approverOf({ name, roles, groups }: OperatorIdentity): Approver {
  return { name, roles: roles.includes('admin') ? ['approver', 'operator', 'admin'] : roles, groups };
}

async function runOf(store: Store, { proposal }: Intent): Promise<ApprovalCard['run']> {
  const { runId, intentId } = proposal;
  const run = await store.runs.find(runId);
  if (run === null) return null;
  const [used, intents] = await Promise.all([
    store.runs.used(runId),
    store.intents.list({ runId, before: intentId, limit: shownHistory }),
  ]);
  const { profile, phase, openedBy, openedAt, expiresAt, closed, budgets } = run;
  const history = intents.map(({ intentId: id, tool, status, reason, recordedAt }) => ({
    ...{ intentId: id, tool, status, reason, recordedAt },
  }));
  return {
    ...{ profile, phase, openedBy, openedAt: iso(openedAt), expiresAt: iso(expiresAt) },
    ...{ closed, left: leftOf(budgets, used), history },
  };
}

function leftOf(
  { calls, mutating, destructive, costMicros }: Omit<Budgets, 'wallClockMs'>,
  used: Holdings,
): NonNullable<ApprovalCard['run']>['left'] {
  const left = (limit: number | null, taken: number) => (limit === null ? null : Math.max(0, limit - taken));
  const cost = left(costMicros, used.cost);
  return {
    calls: left(calls, used.calls),
    mutating: left(mutating, used.mutating),
    destructive: left(destructive, used.destructive),
    cost: cost === null ? null : cost / micros,
  };
}

async function alikeOf(store: Store, { alike, redact }: ApprovalRequest): Promise<ApprovalCard['alike']> {
  const earlier = alike === null ? null : await store.intents.load(alike);
  if (earlier === null) return null;
  const { proposal, state, recordedAt } = earlier;
  return { id: proposal.intentId, status: state, recordedAt: iso(recordedAt), args: redacted(proposal.args, redact) };
}

/** What the domain would accept now, asked without doing it. */
function actionsOn(intent: Intent, approver: Approver, digest: string): Action[] {
  const commands: readonly (readonly [string, Command])[] = [
    ['approve', { type: 'approve', approver, digest }],
    ['refuse', { type: 'refuse', approver, digest, reason: '' }],
    ['withdraw', { type: 'withdraw', by: approver.name }],
  ];
  return commands.map(([action, command]) => {
    const reason = approver.roles.includes('approver')
      ? whyNot(command, intent)
      : `${approver.name} does not have the role approver.`;
    return { action, possible: reason === null, reason };
  });
}

function whyNot(command: Command, intent: Intent): string | null {
  const decision = decide(command, intent, wallClock());
  if (decision.kind === 'rejected') return rejected(decision.reason, intent).message;
  if (decision.kind === 'unchanged')
    return `Intent ${intent.proposal.intentId} is ${intent.state}: that is so already.`;
  // The expiry is all that would be recorded.
  const hasExpired = decision.kind === 'accepted' && decision.events[0]?.type === 'denied';
  return hasExpired ? approvalExpired(intent).message : null;
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

const micros = 1_000_000;
