import type { Bus } from '@intendant/bus';
import {
  type IntentResult,
  isSettled,
  type PageRequest,
  type ResultPage,
  resultOf,
  type Session,
  subjects,
} from '@intendant/contracts';
import type { Intent } from '@intendant/intent';
import type { Store } from '@intendant/store';
import type { CatalogueEntry } from '@intendant/tools';
import { ask } from '../ask.js';
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

  /** Submits a ToolIntent, then waits for what becomes of it. @throws Refusal when nothing was recorded */
  async submit({ headers }: McpCaller, message: object, waiting: Waiting): Promise<IntentResult> {
    const payload = JSON.stringify(message);
    const result = await ask<IntentResult>(this.bus, subjects.rpcSubmit, { payload, headers, timeoutMs: admissionMs });
    return this.outcome(result, waiting);
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
