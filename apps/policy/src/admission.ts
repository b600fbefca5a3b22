import type { Seals } from '@intendant/approvals';
import { Refusal, type Session, stepIdPattern } from '@intendant/contracts';
import type { Intent } from '@intendant/intent';
import { pauseOver } from '@intendant/policy';
import type { Run, Store } from '@intendant/store';
import {
  dropTrustedFields,
  mayCall,
  readToolIntent,
  type ToolIntentMessage,
  type ToolRegistry,
} from '@intendant/tools';
import { checkArguments, checkSandbox, findTool } from './check-proposed.js';
import { EarlierCalls } from './earlier-calls.js';
import { ProposedCall, RunChanged } from './proposed-call.js';
import { conflict, contended, overBefore, overloaded, paused, runClosed } from './refusals.js';
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
  /** The step as the runtime says it beside the message; null: only there, if anywhere. */
  readonly stepId?: string | null;
  /**
   * For a call without a step: id of the newest intent of the same call that its caller knows to be over, so that the same
   * request heard twice does not make it twice. `none`: the caller knows of none. Null: whatever there is, is known.
   */
  readonly after?: string | null;
}

/** From a message and a verified session to a recorded intent, in one straight line. */
export class Admission {
  private readonly earlier: EarlierCalls;

  constructor(
    private readonly store: Store,
    private readonly tools: ToolRegistry,
    private readonly written: WrittenRules,
    private readonly seals: Seals,
  ) {
    this.earlier = new EarlierCalls(store, tools);
  }

  /**
   * Whoever is not `answered` would not hear that the tool is paused: the intent is recorded, and waits.
   *
   * @throws Refusal when nothing is recorded: the message, the run or the arguments are not good, it may not be done for
   *   now, or this service is overloaded.
   */
  async admit(session: Session, payload: Uint8Array, circumstances: Circumstances): Promise<Admitted> {
    if (this.store.door.waiting > maxWaiting) throw overloaded();
    const message = inSession(inStep(readToolIntent(payload), circumstances.stepId ?? null), session);
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
    throw contended();
  }

  private async admitIn(
    run: Run,
    session: Session,
    message: ToolIntentMessage,
    circumstances: Circumstances,
  ): Promise<Admitted> {
    let call: ProposedCall;
    try {
      call = await this.mayBegin(run, session, message, circumstances);
    } catch (refusal) {
      return this.recordedBefore(session, message, circumstances, refusal);
    }
    const result = await this.store.door.execute(call.toRecord());
    if (result.kind === 'accepted') return { intent: result.intent, replayed: false };
    if (result.kind === 'unchanged') return this.repeated(call, result.intent, circumstances);
    if (result.reason === 'run_closed') throw runClosed();
    return this.recordedBefore(session, message, circumstances, conflict(message, result.intent));
  }

  /** The same call again: answered from before, or made once more. @throws Refusal */
  private async repeated(call: ProposedCall, first: Intent, { answered, after }: Circumstances): Promise<Admitted> {
    const { intent, isOver, times } = await this.earlier.newestAfter(first, answered);
    if (isOver && after === 'none') throw overBefore(intent);
    // Where another one is named than the newest, somebody has made it again since.
    if (!isOver || (after ?? intent.proposal.intentId) !== intent.proposal.intentId) return { intent, replayed: true };
    const result = await this.store.door.execute(call.again(times).toRecord());
    if (result.kind !== 'rejected') return { intent: result.intent, replayed: result.kind === 'unchanged' };
    throw result.reason === 'run_closed' ? runClosed() : contended();
  }

  /** @throws Refusal where nothing new may be recorded, as things are now */
  private async mayBegin(
    run: Run,
    session: Session,
    message: ToolIntentMessage,
    { traceparent, answered }: Circumstances,
  ): Promise<ProposedCall> {
    const tool = findTool(this.tools, message, session);
    const { args, dropped } = dropTrustedFields(message.args, Object.keys(tool.inject));
    const permitted = mayCall(tool, session);
    // Whoever may not call a tool learns nothing about its arguments.
    if (permitted.allowed) {
      checkSandbox(message, tool, session);
      checkArguments(this.tools, tool, args);
    }
    if (run.closed) throw runClosed();
    if (answered && permitted.allowed) {
      const pause = pauseOver(await this.store.pauses.current(), session.tenant, tool);
      if (pause !== null) throw paused(tool, pause);
    }
    return new ProposedCall(
      { run, session, tool, message, args, dropped, permitted, traceparent },
      this.written,
      this.seals,
    );
  }

  /** The token alone is not enough: the run it speaks for must be there. */
  private async runOf(session: Session): Promise<Run> {
    const run = await this.store.runs.recall(session.runId);
    if (run && run.tenant === session.tenant) return run;
    throw new Refusal('unauthenticated', 'The run of this token does not exist. The agent runtime has to open one.');
  }

  /**
   * Where nothing new is recorded, what was recorded before is told when it is asked for again, whatever its tool, its run
   * or the rules have become since. @throws otherwise
   */
  private async recordedBefore(
    session: Session,
    message: ToolIntentMessage,
    { answered }: Circumstances,
    otherwise: unknown,
  ): Promise<Admitted> {
    if (!(otherwise instanceof Refusal)) throw otherwise;
    const before = await this.earlier.find(session, message, answered);
    if (before === null || before.isOver) throw otherwise;
    return { intent: before.intent, replayed: true };
  }
}

/** In a sandbox run everything is a sandbox call, whatever the message says. */
function inSession(message: ToolIntentMessage, { sandbox = false }: Session): ToolIntentMessage {
  return sandbox && !message.sandbox ? { ...message, sandbox } : message;
}

/** @throws Refusal `invalid_message` where message and runtime name different steps, or the runtime's is not one */
function inStep(message: ToolIntentMessage, stepId: string | null): ToolIntentMessage {
  if (stepId === null || stepId === message.stepId) return message;
  if (message.stepId === null && stepIdPattern.test(stepId)) return { ...message, stepId };
  throw new Refusal(
    'invalid_message',
    message.stepId === null
      ? 'The step beside the message must be 1 to 128 printable ASCII characters without spaces. Nothing was recorded.'
      : `The message is of step ${message.stepId}, and its Idempotency-Key or Intendant-Step says ${stepId.slice(0, 128)}. Nothing was recorded; send one of them, or the same in both.`,
  );
}
