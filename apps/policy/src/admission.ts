import { type Facts, Refusal, type Session, type ToolDefinition } from '@intendant/contracts';
import { type Command, type Intent, type JsonObject, type Proposal, takenBy } from '@intendant/intent';
import { type Call, pauseOver, propose, rule } from '@intendant/policy';
import { newId } from '@intendant/runtime';
import type { Admission as Claimed, Run, Store } from '@intendant/store';
import {
  dropTrustedFields,
  fingerprint,
  intentKey,
  mayCall,
  readToolIntent,
  type ToolIntentMessage,
  type ToolRegistry,
} from '@intendant/tools';
import { checkArguments, checkSandbox, findTool } from './check-proposed.js';
import { identifiersOf, likenessOf, needsFacts, operationOf, ratesOf } from './claims.js';
import { conflict, overloaded, paused, runClosed, turnedAway } from './refusals.js';
import type { WrittenRules } from './written-rules.js';

/** Commands that may wait for the database before new submits are turned away instead of piling up in memory. */
const maxWaiting = 5_000;
/** How often a run may change under a submit before it is given up for now. */
const mostChanges = 5;

export interface Admitted {
  readonly intent: Intent;
  /** Answered from an earlier submit of the same step or arguments. */
  readonly replayed: boolean;
}

export interface Circumstances {
  readonly traceparent: string | null;
  /** Somebody waits for the answer. */
  readonly answered: boolean;
}

/** The run is not as it was when the decision began. */
class RunChanged extends Error {}

/** From a message and a verified session to a recorded intent, in one straight line. */
export class Admission {
  constructor(
    private readonly store: Store,
    private readonly tools: ToolRegistry,
    private readonly written: WrittenRules,
  ) {}

  /**
   * Whoever is not `answered` would not hear that the tool is paused: the intent is recorded, and waits.
   *
   * @throws Refusal when nothing is recorded: the message, the run or the arguments are not good, it may not be done for
   *   now, or this service is overloaded.
   */
  async admit(session: Session, payload: Uint8Array, circumstances: Circumstances): Promise<Admitted> {
    if (this.store.door.waiting > maxWaiting) throw overloaded();
    const message = inSession(readToolIntent(payload), session);
    for (let changes = 0; changes < mostChanges; changes += 1) {
      const run = await this.runOf(session);
      try {
        // The phase is the run's own, whatever it was when the token was made.
        return await this.admitIn(run, { ...session, phase: run.phase }, message, circumstances);
      } catch (error) {
        if (!(error instanceof RunChanged)) throw error;
        this.store.runs.forget(run.id);
      }
    }
    throw overloaded();
  }

  private async admitIn(
    run: Run,
    session: Session,
    message: ToolIntentMessage,
    { traceparent, answered }: Circumstances,
  ): Promise<Admitted> {
    const tool = findTool(this.tools, message, session);
    const { args, dropped } = dropTrustedFields(message.args, Object.keys(tool.inject));
    const permitted = mayCall(tool, session);
    // Whoever may not call a tool learns nothing about its arguments.
    if (permitted.allowed) {
      checkSandbox(message, tool, session);
      checkArguments(this.tools, tool, args);
    }
    const key = intentKey(session, message, args);
    const digest = fingerprint(args);
    if (run.closed) return this.recordedBefore(key, digest, runClosed());
    if (answered && permitted.allowed) {
      const pause = pauseOver(await this.store.pauses.current(), session.tenant, tool);
      if (pause !== null) return this.recordedBefore(key, digest, paused(tool, pause));
    }
    const { stepId, sandbox } = message;
    const { tenant } = session;
    const place = { tenant, sandbox };
    const cost = permitted.allowed ? this.written.costOf(tool, args) : free;
    const submission = {
      ...{ intentId: newId(), stepId, args, dropped, key, fingerprint: digest, sandbox, traceparent },
      expiresAt: run.expiresAt,
      cost: cost.ok ? cost.micros : 0,
      operation: permitted.allowed ? operationOf(tool, place, args) : null,
      likeness: permitted.allowed ? likenessOf(tool, place, args) : null,
      taintedBy: run.taintedBy,
    };
    const proposal = propose(submission, session, tool);
    const identifiers = permitted.allowed ? identifiersOf(tool, args) : [];
    const rates = ratesOf(tool, place, this.written.rateOf(tenant));
    const callOn = (facts: Facts | null): Call => ({
      ...{ session, tool, permitted, identifiers, rates, takes: takenBy(proposal), taintedBy: run.taintedBy },
      written: cost.ok ? this.judged(run, session, tool, proposal, facts) : uncounted(tool, cost.error),
    });
    const record = (facts: Facts | null): Recording => {
      const verdict = rule(callOn(facts), facts, this.written.version);
      if (verdict.kind === 'turn_away') throw turnedAway(verdict.objection);
      return { type: 'record', proposal, ruling: verdict.ruling };
    };
    const needRun = permitted.allowed && this.written.needRun(tenant, tool);
    const admission: Claimed = {
      claim: {
        ...{ runId: run.id, revision: run.revision, rates },
        alikeForMs: tool.similar?.windowMs ?? null,
        identifiers: identifiers.map((each) => each.digest),
        past: needRun,
      },
      needsFacts: needsFacts(proposal, identifiers, needRun),
      judge: (facts) => {
        if (facts.run?.revision !== run.revision) throw new RunChanged();
        return record(facts);
      },
    };
    const { intentId } = proposal;
    const result = await this.store.door.execute({ intentId, command: record(null), admission });
    if (result.kind !== 'rejected') return { intent: result.intent, replayed: result.kind === 'unchanged' };
    throw result.reason === 'run_closed' ? runClosed() : conflict(tool, stepId, result.intent);
  }

  private judged(
    run: Run,
    session: Session,
    tool: ToolDefinition,
    { args, sandbox, cost = 0 }: Proposal,
    facts: Facts | null,
  ) {
    const { openedBy, restrictions } = run;
    return this.written.judge({ session, tool, args, sandbox, cost, openedBy, restrictions, facts });
  }

  /** The token alone is not enough: the run it speaks for must be there. */
  private async runOf(session: Session): Promise<Run> {
    const run = await this.store.runs.recall(session.runId);
    if (run && run.tenant === session.tenant) return run;
    throw new Refusal('unauthenticated', 'The run of this token does not exist. The agent runtime has to open one.');
  }

  /** Where nothing new is recorded, what was recorded before is told when it is asked for again. @throws otherwise */
  private async recordedBefore(key: string, digest: string, otherwise: Refusal): Promise<Admitted> {
    const intent = await this.store.intents.findByKey(key);
    if (intent?.proposal.fingerprint === digest) return { intent, replayed: true };
    throw otherwise;
  }
}

type Recording = Extract<Command, { type: 'record' }>;

const free = { ok: true, micros: 0 } as const;

/** In a sandbox run everything is a sandbox call, whatever the message says. */
function inSession(message: ToolIntentMessage, { sandbox = false }: Session): ToolIntentMessage {
  return sandbox && !message.sandbox ? { ...message, sandbox } : message;
}

/** What nobody can say the cost of is not done. */
function uncounted(tool: ToolDefinition, error: string): Call['written'] {
  const message = `What ${tool.name} costs with these arguments cannot be told`;
  return { kind: 'deny', rule: 'cost', message, inputs: { error } satisfies JsonObject };
}
