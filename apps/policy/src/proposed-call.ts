import { newRequest, type Seals } from '@intendant/approvals';
import type { Facts, Permit, Session, ToolDefinition } from '@intendant/contracts';
import { type Command, type DroppedField, type JsonObject, type Proposal, takenBy } from '@intendant/intent';
import {
  type Call,
  grantFor,
  mayBeGranted,
  type NamedIdentifier,
  type NamedRate,
  propose,
  rule,
  type Verdict,
} from '@intendant/policy';
import { newId } from '@intendant/runtime';
import type { Addressed, Run } from '@intendant/store';
import { fingerprint, intentKey, repeatedKey, type ToolIntentMessage } from '@intendant/tools';
import { gistOf, identifiersOf, likenessOf, operationOf, ratesOf } from './claims.js';
import { notAsked, turnedAway } from './refusals.js';
import type { Question, WrittenRules } from './written-rules.js';

/** The run is not as it was when the decision began. */
export class RunChanged extends Error {}

/** What was read and checked before anything is decided. */
export interface Proposed {
  readonly run: Run;
  /** With the phase that the run is in. */
  readonly session: Session;
  readonly tool: ToolDefinition;
  readonly message: ToolIntentMessage;
  readonly args: JsonObject;
  readonly dropped: readonly DroppedField[];
  readonly permitted: Permit;
  readonly traceparent: string | null;
  /** How often it was made before; a call under a step is made once. */
  readonly times?: number;
}

type Recording = Extract<Command, { type: 'record' }>;

/** One call on its way into the log: what it claims, and how it is decided. */
export class ProposedCall {
  readonly key: string;
  readonly fingerprint: string;
  private readonly proposal: Proposal;
  private readonly identifiers: readonly NamedIdentifier[];
  private readonly rates: readonly NamedRate[];
  private readonly cost: ReturnType<WrittenRules['costOf']>;

  constructor(
    private readonly proposed: Proposed,
    private readonly written: WrittenRules,
    private readonly seals: Seals,
  ) {
    const { run, session, tool, message, args, dropped, permitted, traceparent, times = 0 } = proposed;
    const { stepId, sandbox } = message;
    const place = { tenant: session.tenant, sandbox };
    const key = intentKey(session, message, args);
    this.key = times === 0 ? key : repeatedKey(key, times);
    this.fingerprint = fingerprint(args);
    // What was not permitted was not checked either, and takes nothing.
    this.cost = permitted.allowed ? written.costOf(tool, args) : { ok: true, micros: 0 };
    this.identifiers = permitted.allowed ? identifiersOf(tool, args, sandbox) : [];
    this.rates = ratesOf(tool, place, written.rateOf(session.tenant));
    const submission = {
      ...{
        intentId: newId(),
        stepId,
        args,
        dropped,
        key: this.key,
        fingerprint: this.fingerprint,
        sandbox,
        traceparent,
      },
      expiresAt: run.expiresAt,
      cost: this.cost.ok ? this.cost.micros : 0,
      operation: permitted.allowed ? operationOf(tool, place, args) : null,
      likeness: permitted.allowed ? likenessOf(tool, place, args) : null,
      taintedBy: run.taintedBy,
    };
    this.proposal = propose(submission, session, tool);
  }

  /** The same call, as one that was made `times` before. */
  again(times: number): ProposedCall {
    return new ProposedCall({ ...this.proposed, times }, this.written, this.seals);
  }

  /** For the door: decided as if nothing stood in its way, with a judge for when something does. */
  toRecord(): Addressed {
    const { run, session, tool, permitted } = this.proposed;
    const past = permitted.allowed && this.written.needRun(session.tenant, tool);
    const first = this.verdict(null);
    const gist = this.mayHaveBeenRefused() ? this.gist : null;
    return {
      intentId: this.proposal.intentId,
      command: this.recording(first, null),
      admission: {
        claim: {
          ...{ runId: run.id, revision: run.revision, rates: this.rates, past },
          exact: past || first.kind === 'ask' || tool.similar?.mode === 'approve',
          gist,
          grantsFor: this.mayBeAsked(past, first) ? { tenant: session.tenant, tool: tool.name } : null,
          alikeForMs: tool.similar?.windowMs ?? null,
          identifiers: this.identifiers.map(({ digest }) => digest),
        },
        needsFacts:
          past ||
          first.kind === 'ask' ||
          gist !== null ||
          this.identifiers.length > 0 ||
          this.proposal.likeness !== undefined,
        judge: (facts) => {
          if (facts.run?.revision !== run.revision) throw new RunChanged();
          return this.recording(this.verdict(facts), facts);
        },
      },
    };
  }

  private verdict(facts: Facts | null): Verdict {
    return rule(this.callBy(facts), facts, this.written.version);
  }

  /** @throws Refusal when it is turned away */
  private recording(verdict: Verdict, facts: Facts | null): Recording {
    const { proposal } = this;
    switch (verdict.kind) {
      case 'record':
        return { type: 'record', proposal, ruling: verdict.ruling };
      case 'turn_away':
        throw turnedAway(verdict.objection);
      case 'ask':
        // The door asks again with facts; should it not, nothing happens.
        if (facts === null) return { type: 'record', proposal, ruling: { allow: false, failure: notAsked(proposal) } };
        return this.asking(verdict, facts);
    }
  }

  /** Nobody but facts, which are not there yet, makes of anything else a question to people. */
  private mayBeAsked(past: boolean, first: Verdict): boolean {
    return (past || first.kind === 'ask') && mayBeGranted(this.proposed);
  }

  private asking(verdict: Extract<Verdict, { kind: 'ask' }>, facts: Facts): Recording {
    const { demands, reasons } = verdict;
    const { run, tool } = this.proposed;
    const allows = (condition: string) => this.written.allows(condition, this.question(facts));
    const grant = grantFor(this.callBy(facts), demands, facts.grants, allows);
    const proposal = { ...this.proposal, gist: this.gist, ...(grant && { grant: grant.id }) };
    if (grant) {
      const inputs = { grant: grant.id, givenBy: grant.givenBy, demandedBy: demands.map(({ rule }) => rule) };
      return { type: 'record', proposal, ruling: { allow: true, reasons: { ...reasons, rule: 'grant', inputs } } };
    }
    const { now, alike } = facts;
    const expiresAt = Math.min(Math.floor(now) + tool.approval.ttlMs, run.expiresAt);
    const question = { proposal, tool, policy: this.written.version, demands, expiresAt, nonce: newId() };
    const request = newRequest({ ...question, alike: alike?.intentId ?? null }, this.seals);
    return { type: 'record', proposal, ruling: { allow: 'approved', request, reasons } };
  }

  /** What a refusal of it is remembered by. */
  private get gist(): string {
    const { run, session, tool, args, message } = this.proposed;
    return gistOf(tool, { tenant: session.tenant, sandbox: message.sandbox, runId: run.id }, args);
  }

  /** Somebody has said no to something in this run, or the tool remembers what was said anywhere. */
  private mayHaveBeenRefused(): boolean {
    const { run, tool, permitted } = this.proposed;
    return permitted.allowed && (run.refused || tool.approval.remember === 'tenant');
  }

  /** People are asked about another call of the tool in this run. Those that only look alike are asked about each. */
  private isAskedOf(facts: Facts | null): boolean {
    const { name, similar } = this.proposed.tool;
    if (similar !== null) return false;
    return facts?.open.some(({ state, tool }) => state === 'awaiting_approval' && tool === name) ?? false;
  }

  private callBy(facts: Facts | null): Call {
    const { run, session, tool, permitted, message } = this.proposed;
    const { identifiers, rates, proposal, cost, fingerprint } = this;
    return {
      ...{ fingerprint, sandbox: message.sandbox, gist: this.isAskedOf(facts) ? this.gist : null },
      ...{ session, tool, permitted, identifiers, rates, takes: takenBy(proposal), taintedBy: run.taintedBy },
      written: cost.ok ? this.written.judge(this.question(facts)) : uncounted(tool, cost.error),
    };
  }

  private question(facts: Facts | null): Question {
    const { run, session, tool, args, message } = this.proposed;
    const { openedBy, restrictions, taintedBy } = run;
    const cost = this.proposal.cost ?? 0;
    return { session, tool, args, sandbox: message.sandbox, cost, openedBy, restrictions, taintedBy, facts };
  }
}

/** What nobody can say the cost of is not done. */
function uncounted(tool: ToolDefinition, error: string): Call['written'] {
  const message = `What ${tool.name} costs with these arguments cannot be told`;
  return { kind: 'deny', rule: 'cost', message, inputs: {}, error };
}
