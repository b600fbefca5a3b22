import type { ToolDefinition } from '@intendant/contracts';
import type { LookupAnswer, Verdict } from '@intendant/intent';
import type { Pool } from 'undici';
import type {
  CallOptions,
  LookupOptions,
  LookupRequest,
  UpstreamAdapter,
  UpstreamRequest,
  ValidateOutput,
} from './adapter.js';
import { answerVerdict } from './answer-verdict.js';
import { type ExchangeOptions, exchange } from './exchange.js';
import { failureVerdict, notExecuted } from './failure-verdict.js';
import { buildCall, buildLookup, type WireRequest } from './http-request.js';
import { cannotTell, lookupAnswer } from './lookup-answer.js';
import { Pools } from './pools.js';
import { redact } from './redact.js';
import { messageOf, shortText } from './short-text.js';

export interface HttpAdapterOptions {
  /** Most bytes of an answer's body that are read; 1 MiB when left out. */
  readonly maxResponseBytes?: number;
}

/** HTTP/1.1 upstreams: one wire request per attempt, no redirects, no retries, a verdict for everything. */
export class HttpAdapter implements UpstreamAdapter {
  readonly #pools = new Pools();
  readonly #maxBytes: number;

  constructor(
    private readonly validateOutput: ValidateOutput,
    options: HttpAdapterOptions = {},
  ) {
    this.#maxBytes = options.maxResponseBytes ?? 1024 * 1024;
  }

  async call(request: UpstreamRequest, options: CallOptions): Promise<Verdict> {
    return presentable(await this.#call(request, options), request);
  }

  async lookup(request: LookupRequest, options: LookupOptions = {}): Promise<LookupAnswer> {
    return presentable(await this.#lookup(request, options), request);
  }

  async close(): Promise<void> {
    await this.#pools.close();
  }

  async #call(request: UpstreamRequest, options: CallOptions): Promise<Verdict> {
    const { tool, sandbox } = request;
    // There is no sandbox address yet, and the real one must not take its place.
    if (sandbox) return notExecuted('no_sandbox', false, `${tool.name} has no sandbox`);
    let wire: WireRequest;
    let pool: Pool | null;
    try {
      wire = await buildCall(request);
      pool = this.#pools.get(wire.origin, tool.limits.connectMs);
    } catch (error) {
      return notExecuted('request_mapping', false, messageOf(error));
    }
    if (pool === null) return notExecuted('client_closed', true, 'shutting down');
    const result = await exchange(pool, wire, this.#bounds(tool, options));
    return result.kind === 'answer' ? answerVerdict(tool, result.answer, this.validateOutput) : failureVerdict(result);
  }

  async #lookup(request: LookupRequest, options: LookupOptions): Promise<LookupAnswer> {
    const { tool, sandbox } = request;
    const { lookup } = tool.upstream;
    if (lookup === null) return cannotTell(`${tool.name} has no lookup`);
    if (sandbox) return cannotTell(`${tool.name} has no sandbox`);
    try {
      const wire = buildLookup(request, lookup);
      const pool = this.#pools.get(wire.origin, tool.limits.connectMs);
      if (pool === null) return cannotTell('shutting down');
      const result = await exchange(pool, wire, this.#bounds(tool, { ...options, mayStart: () => true }));
      if (result.kind === 'answer') return await lookupAnswer(tool, lookup, result.answer, this.validateOutput);
      return cannotTell(result.kind === 'refused' ? result.detail : messageOf(result.error));
    } catch (error) {
      return cannotTell(messageOf(error));
    }
  }

  #bounds(tool: ToolDefinition, options: CallOptions): ExchangeOptions {
    const { connectMs, callMs } = tool.limits;
    const { signal, mayStart, onSend } = options;
    return { signal, mayStart, onSend, connectMs, callMs, maxBytes: this.#maxBytes };
  }
}

/**
 * The one way out for texts, which end up in logs, events and the agent's messages. They are redacted first: a cut
 * could leave half a secret, which nothing would recognise.
 */
function presentable<T extends Verdict | LookupAnswer>(result: T, request: LookupRequest): T {
  return 'detail' in result ? { ...result, detail: shortText(redact(result.detail, request)) } : result;
}
