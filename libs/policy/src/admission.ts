import { type Facts, mostDenied, type Session, type ToolDefinition } from '@intendant/contracts';
import type { Demand, DroppedField, JsonObject, Operation, Proposal, Reasons, Ruling } from '@intendant/intent';
import { exhausted } from './budgets.js';
import type { Call } from './call.js';
import { demandsAgain, demandsOf } from './demands.js';
import type { Objection } from './objection.js';
import { refusedBefore, sameCall, sameOperation, sameQuestion, tainted, unfounded } from './others.js';
import { tooFast } from './rates.js';
import { sentence } from './sentence.js';

/**
 * What the rules say: the call is recorded with a ruling, or once people were asked, or it is turned away and nothing is
 * recorded.
 */
export type Verdict =
  | { readonly kind: 'record'; readonly ruling: Ruling }
  | { readonly kind: 'ask'; readonly demands: readonly [Demand, ...Demand[]]; readonly reasons: Reasons }
  | { readonly kind: 'turn_away'; readonly objection: Objection };

/**
 * May it happen? Deny by default: only what is permitted is allowed, and whoever objects says by which rule, what it looked
 * at and what would change it. Without facts the answer is right if nothing of what the run and others have done stands in
 * its way. `policy` is the version of the written rules.
 */
export function rule(call: Call, facts: Facts | null, policy: string): Verdict {
  const objection =
    notPermitted(call) ??
    tainted(call) ??
    (facts && objectionOf(call, facts)) ??
    byTheBook(call) ??
    (facts && tooFast(call, facts));
  const alike: JsonObject = facts?.alike && call.tool.similar ? { alike: facts.alike.intentId } : {};
  if (objection === null) {
    const { kind, rule: written, inputs } = call.written;
    const [first, ...others] = demandsOf(call, facts);
    // Where several ask for a person, the rule that somebody has written is told: others can be written.
    const name = first && kind !== 'require_approval' ? first.rule : written;
    const reasons: Reasons = { policy, rule: name, inputs: { ...inputs, ...alike } };
    if (first) return { kind: 'ask', demands: [first, ...others], reasons };
    return { kind: 'record', ruling: { allow: true, reasons } };
  }
  if (objection.kind === 'refuse') return { kind: 'turn_away', objection };
  if (facts?.run && facts.run.denied >= mostDenied) return { kind: 'turn_away', objection: deniedTooOften(objection) };
  return { kind: 'record', ruling: deniedBy(objection, policy) };
}

/**
 * What the rules of now say of a call that people are asked about by the demands of `earlier` ones. What it takes and what
 * others have done is as it was decided then.
 */
export function ruleAgain(
  call: Call,
  earlier: readonly Demand[],
  policy: string,
): Denial | { readonly allow: 'approved'; readonly demands: readonly Demand[]; readonly reasons: Reasons } {
  const objection = tainted(call) ?? byTheBook(call);
  if (objection) return deniedBy(objection, policy);
  const { rule: written, inputs } = call.written;
  const demands = demandsAgain(call, earlier);
  const name = call.written.kind === 'require_approval' ? written : (demands[0]?.rule ?? null);
  return { allow: 'approved', demands, reasons: { policy, rule: name, inputs } };
}

type Denial = Extract<Ruling, { readonly allow: false }>;

function deniedBy({ code, message, inputs, error, remedy, rule: name }: Objection, policy: string): Denial {
  const details = { ...inputs, rule: name, wouldAllow: remedy };
  const reasons: Reasons = { policy, rule: name, inputs: error ? { ...inputs, error } : inputs };
  return { allow: false, failure: { code, message, details }, reasons };
}

/** What is denied for nothing would otherwise be recorded for ever. */
function deniedTooOften({ message }: Objection): Objection {
  return {
    kind: 'refuse',
    code: 'budget_exhausted',
    rule: 'denials',
    message: `${message} This run was denied ${mostDenied} calls by now, and no more are recorded: stop.`,
    inputs: { which: 'denials', used: mostDenied, limit: mostDenied },
    remedy: 'another run',
  };
}

function notPermitted({ session, tool, permitted }: Call): Objection | null {
  if (permitted.allowed) return null;
  return {
    kind: 'deny',
    code: 'permission_denied',
    rule: 'permission',
    message: `${tool.name} is not allowed here: ${permitted.reason}. Nothing was sent. Do not try again; use another tool or stop.`,
    inputs: { user: session.user, phase: session.phase, permission: tool.permission },
    remedy: 'a run with that permission, or in that phase, which only the agent runtime can give',
  };
}

function objectionOf(call: Call, facts: Facts): Objection | null {
  return (
    sameCall(call, facts) ??
    sameOperation(call, facts) ??
    sameQuestion(call, facts) ??
    unfounded(call, facts) ??
    refusedBefore(call, facts) ??
    (facts.run && exhausted(call, facts.run, facts.now))
  );
}

/** What people have written down. */
function byTheBook({ tool, written }: Call): Objection | null {
  if (written.kind !== 'deny') return null;
  const why = sentence(written.message || `${tool.name} is not allowed here`);
  return {
    kind: 'deny',
    code: 'rule_denied',
    rule: written.rule ?? 'default',
    message: `${why} Nothing was sent. Do not try again, and do not change the call to get around this.`,
    inputs: written.inputs,
    error: written.error,
    remedy: written.bounds ?? null,
  };
}

export interface Submission {
  readonly intentId: string;
  readonly stepId: string | null;
  readonly args: JsonObject;
  readonly dropped: readonly DroppedField[];
  readonly key: string;
  readonly fingerprint: string;
  readonly sandbox: boolean;
  readonly traceparent: string | null;
  /** End of the authority to dispatch, in ms since the epoch on the database clock. */
  readonly expiresAt: number;
  /** Millionths of a unit. */
  readonly cost: number;
  readonly operation: Operation | null;
  readonly likeness: string | null;
  readonly taintedBy: string | null;
}

/** The intent as it will be recorded: identity from the session, terms from the tool, the rest from the caller. */
export function propose(submission: Submission, session: Session, tool: ToolDefinition): Proposal {
  const { cost, operation, likeness, taintedBy } = submission;
  // Field by field: a spread that more fields follow takes ten times as long.
  const proposal = {
    intentId: submission.intentId,
    tenant: session.tenant,
    runId: session.runId,
    user: session.user,
    stepId: submission.stepId,
    tool: tool.name,
    toolVersion: tool.version,
    contractDigest: tool.contractDigest,
    args: submission.args,
    injected: inject(tool, session),
    dropped: submission.dropped,
    key: submission.key,
    fingerprint: submission.fingerprint,
    sandbox: submission.sandbox,
    terms: tool.terms,
    expiresAt: submission.expiresAt,
    traceparent: submission.traceparent,
  };
  if (session.phase !== null) Object.assign(proposal, { phase: session.phase });
  if (cost > 0) Object.assign(proposal, { cost });
  if (operation !== null) Object.assign(proposal, { operation });
  if (likeness !== null) Object.assign(proposal, { likeness });
  if (taintedBy !== null) Object.assign(proposal, { taintedBy });
  return proposal;
}

function inject(tool: ToolDefinition, session: Session): JsonObject {
  const values = { tenant: session.tenant, user: session.user, run: session.runId };
  return Object.fromEntries(Object.entries(tool.inject).map(([field, source]) => [field, values[source]]));
}
