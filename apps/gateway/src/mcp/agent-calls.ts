import type { Bus } from '@intendant/bus';
import {
  type IntentResult,
  isSettled,
  type PageRequest,
  Refusal,
  type ResultPage,
  resultOf,
  type Session,
  subjects,
} from '@intendant/contracts';
import type { Intent } from '@intendant/intent';
import type { Store } from '@intendant/store';
import type { CatalogueEntry } from '@intendant/tools';
import { ask } from '../ask.js';
import { submitUntilClear, Unclear } from '../ask-again.js';
import { callAgain } from '../call-again.js';
import { intentAfter } from '../command-answer.js';
import { readPage } from '../read-page.js';
import { visibleIntent } from '../tenants.js';
import { type Tell, tellProgress } from './tell-progress.js';

/** Who calls over MCP, and how. */
export interface McpCaller {
  readonly session: Session;
  /** For the services that answer over the bus: the credential and the trace. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Waiting {
  readonly ms: number;
  /** Ends the waiting, and nothing else. */
  readonly signal: AbortSignal;
  /** Undefined: nobody listens. */
  readonly tell?: Tell | undefined;
}

/** A ToolIntent as it came. */
export interface ToolCall {
  readonly tool: string;
  readonly args: unknown;
  readonly stepId?: unknown;
}

/** How long admission may take, in ms. */
const admissionMs = 10_000;

/** What an agent does, by the same doors as over HTTP. */
export class AgentCalls {
  constructor(
    private readonly bus: Bus,
    private readonly store: Store,
  ) {}

  async tools({ headers }: McpCaller, filter: { query?: string; namespace?: string }): Promise<CatalogueEntry[]> {
    const payload = JSON.stringify(filter);
    const { tools } = await ask<{ tools: CatalogueEntry[] }>(this.bus, subjects.rpcTools, {
      ...{ payload, headers, timeoutMs: admissionMs },
    });
    return tools;
  }

  /**
   * Submits a ToolIntent, then waits for what becomes of it.
   *
   * @throws Refusal when nothing was recorded; `outcome_unknown` when nobody knows whether something was
   */
  async submit({ headers, session }: McpCaller, message: ToolCall, waiting: Waiting): Promise<IntentResult> {
    const began = performance.now();
    const payload = JSON.stringify(message);
    const within = Math.max(waiting.ms, admissionMs);
    const result = await callAgain(
      () => waiting.signal.aborted,
      (after) => {
        const question = { payload, headers: { ...headers, ...after } };
        const leftMs = within - (performance.now() - began);
        return submitUntilClear<IntentResult>(this.bus, subjects.rpcSubmit, question, leftMs, waiting.signal);
      },
    ).catch((failure) => {
      throw failure instanceof Unclear ? nobodyKnows(message, session) : failure;
    });
    return this.outcome(result, { ...waiting, ms: waiting.ms - (performance.now() - began) });
  }

  /** @throws Refusal `not_found` for an intent of another run */
  intent({ session }: McpCaller, intentId: string): Promise<Intent> {
    return visibleIntent(this.store, { kind: 'agent', session }, intentId);
  }

  /** @throws Refusal `not_found` for an intent of another run */
  async read(caller: McpCaller, intentId: string, waiting: Waiting): Promise<IntentResult> {
    return this.outcome(resultOf(await this.intent(caller, intentId), false), waiting);
  }

  /** @throws Refusal `not_found` for a handle of another run, or a place that is none */
  page({ session }: McpCaller, handle: string, request: PageRequest): Promise<ResultPage> {
    return readPage(this.store, { kind: 'agent', session }, handle, request);
  }

  /** @throws Refusal `not_found` for an intent of another run, `conflict` for one that cannot be cancelled */
  async cancel(caller: McpCaller, intentId: string, waiting: Waiting): Promise<IntentResult> {
    await this.intent(caller, intentId);
    const result = await this.store.door.execute({ intentId, command: { type: 'cancel', by: caller.session.user } });
    return this.outcome(resultOf(intentAfter(result), false), waiting);
  }

  /** The outcome, or how it stands when the waiting is over. A store that is away ends the waiting, too. */
  private async outcome(first: IntentResult, { ms, signal, tell }: Waiting): Promise<IntentResult> {
    if (isSettled(first.status) || ms <= 0) return first;
    const over = new AbortController();
    // What cannot be told is not told, which changes nothing.
    if (tell) tellProgress(this.store, first.intentId, tell, over.signal).catch(() => undefined);
    const intent = await this.store.outcomes.wait(first.intentId, ms, { signal }).catch(() => null);
    over.abort();
    return intent === null ? first : resultOf(intent, first.replayed);
  }
}

/** There is no id to ask about; what a model can do is no harm. */
function nobodyKnows({ tool, stepId }: ToolCall, { runId }: Session): Refusal {
  const step = typeof stepId === 'string' ? stepId : null;
  const where = step === null ? `run ${runId}` : `run ${runId} under step ${step}`;
  // A step that is made up anew for each call of a model would make a second call of it.
  const later =
    step === null
      ? ' with other arguments or by another tool: only exactly the same call is answered from this one, if it was recorded'
      : ', in whatever words: it could take effect twice';
  return new Refusal(
    'outcome_unknown',
    `Nobody knows whether ${tool} was recorded: Intendant has not answered. It may have happened, or happen yet. Do not make this call again${later}. Go on with what does not depend on it, and tell the person you work for; an operator can see in ${where} what became of it.`,
    { runId, stepId: step, tool },
  );
}
