import { type Pause, Refusal, type Session, type ToolDefinition } from '@intendant/contracts';
import type { Intent, JsonObject } from '@intendant/intent';
import { pauseOver, propose, rule } from '@intendant/policy';
import { newId } from '@intendant/runtime';
import type { Run, Store } from '@intendant/store';
import {
  dropTrustedFields,
  fingerprint,
  intentKey,
  mayCall,
  readToolIntent,
  type ToolIntentMessage,
  type ToolRegistry,
} from '@intendant/tools';

/** Commands that may wait for the database before new submits are turned away instead of piling up in memory. */
const maxWaiting = 5_000;

export interface Admitted {
  readonly intent: Intent;
  /** Answered from an earlier submit of the same step or arguments. */
  readonly replayed: boolean;
}

/** From a message and a verified session to a recorded intent, in one straight line. */
export class Admission {
  constructor(
    private readonly store: Store,
    private readonly tools: ToolRegistry,
  ) {}

  /**
   * Whoever is not `answered` would not hear that the tool is paused: the intent is recorded, and waits.
   *
   * @throws Refusal when nothing is recorded: the message, the run or the arguments are not good, the tool is paused, or
   *   this service is overloaded.
   */
  async admit(
    session: Session,
    payload: Uint8Array,
    { traceparent, answered }: { readonly traceparent: string | null; readonly answered: boolean },
  ): Promise<Admitted> {
    if (this.store.door.waiting > maxWaiting) {
      throw new Refusal(
        'unavailable',
        'Too much is waiting. Nothing was recorded; send it again with the same step in a moment.',
      );
    }
    const message = inSession(readToolIntent(payload), session);
    const tool = this.find(message, session);
    const { args, dropped } = dropTrustedFields(message.args, Object.keys(tool.inject));
    const permitted = mayCall(tool, session);
    // Whoever may not call a tool learns nothing about its arguments.
    if (permitted.allowed) {
      checkSandbox(message, tool, session);
      this.check(tool, args);
    }
    const key = intentKey(session, message, args);
    const digest = fingerprint(args);
    const run = await this.runOf(session);
    if (run.closed) return this.recordedBefore(key, digest, runClosed());
    if (answered && permitted.allowed) {
      const pause = pauseOver(await this.store.pauses.current(), session.tenant, tool);
      if (pause !== null) return this.recordedBefore(key, digest, paused(tool, pause));
    }
    const ruling = rule({ session, tool, permitted });
    const submission = {
      intentId: newId(),
      stepId: message.stepId,
      args,
      dropped,
      key,
      fingerprint: digest,
      sandbox: message.sandbox,
      traceparent,
      expiresAt: run.expiresAt,
    };
    const proposal = propose(submission, session, tool);
    const result = await this.store.door.execute({
      intentId: proposal.intentId,
      command: { type: 'record', proposal, ruling },
    });
    if (result.kind !== 'rejected') return { intent: result.intent, replayed: result.kind === 'unchanged' };
    if (result.reason === 'run_closed') throw runClosed();
    throw new Refusal(
      'idempotency_conflict',
      `Step ${message.stepId ?? '(none)'} already called ${tool.name} with other arguments. Nothing new was recorded. A different call needs a new step; do not change a call to get around this.`,
      { intentId: result.intent?.proposal.intentId ?? null },
    );
  }

  private find(message: ToolIntentMessage, session: Session): ToolDefinition {
    const tool = this.tools.get(message.tool);
    if (!tool) {
      const near = this.tools.suggest(
        message.tool,
        (t) => mayCall(t, session).allowed && (!message.sandbox || t.sandbox !== null),
      );
      throw new Refusal(
        'unknown_tool',
        `There is no tool ${message.tool}.${near ? ` Did you mean ${near}?` : ' List the tools to see what there is.'}`,
        {
          ...(near && { suggestion: near }),
        },
      );
    }
    if (message.toolVersion !== null && message.toolVersion !== tool.version) {
      throw new Refusal(
        'unknown_tool',
        `${tool.name} has version ${tool.version}, not ${message.toolVersion}. List the tools to see its present contract.`,
        {
          version: tool.version,
        },
      );
    }
    return tool;
  }

  private check(tool: ToolDefinition, args: JsonObject): void {
    const problems = this.tools.check(tool, args);
    const [first] = problems;
    if (!first) return;
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
    throw new Refusal(
      'invalid_arguments',
      `The arguments of ${tool.name} are not right: ${first.pointer || 'the arguments'}: expected ${first.expected}, got ${first.got}${more}. Nothing was recorded; correct every field named in details.`,
      { problems: problems.map((problem) => ({ ...problem })) as unknown as JsonObject[] },
    );
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

/** In a sandbox run everything is a sandbox call, whatever the message says. */
function inSession(message: ToolIntentMessage, { sandbox = false }: Session): ToolIntentMessage {
  return sandbox && !message.sandbox ? { ...message, sandbox } : message;
}

/** The real thing must never stand in for a sandbox that is not there. */
function checkSandbox(message: ToolIntentMessage, tool: ToolDefinition, session: Session): void {
  if (!message.sandbox || tool.sandbox !== null) return;
  const problem = session.sandbox
    ? { pointer: '/tool', expected: 'a tool with a sandbox', got: JSON.stringify(tool.name) }
    : { pointer: '/sandbox', expected: 'false', got: 'true' };
  const why = session.sandbox ? ', and in this run every call goes to a sandbox' : '';
  throw new Refusal('invalid_message', `${tool.name} has no sandbox${why}. Nothing was recorded.`, {
    problems: [problem],
  });
}

function runClosed(): Refusal {
  return new Refusal('run_closed', 'This run is closed. Nothing was recorded and nothing more can be done in it.');
}

function paused(tool: ToolDefinition, { reason, since, until }: Pause): Refusal {
  const end = until === null ? 'Nobody has said for how long' : `It ends at ${until}`;
  return new Refusal(
    'paused',
    `${tool.name} is paused: ${reason}. ${end}. Nothing was recorded; send the same step again later, and do not look for another way to do it.`,
    { reason, since, until },
  );
}
