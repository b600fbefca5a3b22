import type { Bus } from '@intendant/bus';
import {
  type IntentResult,
  type PageRequest,
  type ResultPage,
  resultOf,
  type Session,
  subjects,
} from '@intendant/contracts';
import { hasOutcome, type Store } from '@intendant/store';
import type { CatalogueEntry } from '@intendant/tools';
import { ask } from '../ask.js';
import { intentAfter } from '../command-answer.js';
import { readPage } from '../read-page.js';
import { visibleIntent } from '../tenants.js';

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
  /** Told every few seconds. */
  readonly onProgress: (result: IntentResult, waitedMs: number) => Promise<void>;
}

/** How long admission may take, in ms. */
const admissionMs = 10_000;
const progressEveryMs = 2_000;

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

  /** Submits a ToolIntent, then waits for what becomes of it. @throws Refusal when nothing was recorded */
  async submit({ headers }: McpCaller, message: object, waiting: Waiting): Promise<IntentResult> {
    const payload = JSON.stringify(message);
    const result = await ask<IntentResult>(this.bus, subjects.rpcSubmit, { payload, headers, timeoutMs: admissionMs });
    return this.outcome(result, waiting);
  }

  /** @throws Refusal `not_found` for an intent of another run */
  async read({ session }: McpCaller, intentId: string, waiting: Waiting): Promise<IntentResult> {
    return this.outcome(
      resultOf(await visibleIntent(this.store, { kind: 'agent', session }, intentId), false),
      waiting,
    );
  }

  /** @throws Refusal `not_found` for a handle of another run, or a place that is none */
  page({ session }: McpCaller, handle: string, request: PageRequest): Promise<ResultPage> {
    return readPage(this.store, { kind: 'agent', session }, handle, request);
  }

  /** @throws Refusal `not_found` for an intent of another run, `conflict` for one that cannot be cancelled */
  async cancel({ session }: McpCaller, intentId: string, waiting: Waiting): Promise<IntentResult> {
    await visibleIntent(this.store, { kind: 'agent', session }, intentId);
    const result = await this.store.door.execute({ intentId, command: { type: 'cancel', by: session.user } });
    return this.outcome(resultOf(intentAfter(result), false), waiting);
  }

  /** The outcome, or how it stands when the waiting is over. A store that is away ends the waiting, too. */
  private async outcome(first: IntentResult, { ms, signal, onProgress }: Waiting): Promise<IntentResult> {
    const began = performance.now();
    let result = first;
    for (;;) {
      const left = ms - (performance.now() - began);
      if (left <= 0 || signal.aborted) return result;
      const intent = await this.store.outcomes
        .wait(result.intentId, Math.min(left, progressEveryMs), { signal })
        .catch(() => null);
      if (intent === null) return result;
      result = resultOf(intent, first.replayed);
      if (hasOutcome(intent)) return result;
      const waitedMs = performance.now() - began;
      if (waitedMs < ms && !signal.aborted) await onProgress(result, waitedMs);
    }
  }
}
