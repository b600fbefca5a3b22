import type { Upstream } from '@intendant/contracts';
import type { LookupAnswer, PollAnswer, Verdict } from '@intendant/intent';
import {
  type CallOptions,
  type LookupOptions,
  type LookupRequest,
  type PollRequest,
  type UpstreamAdapter,
  type UpstreamRequest,
  upstreamOf,
  type ValidateOutput,
} from './adapter.js';
import { notExecuted } from './failure-verdict.js';
import { HttpAdapter } from './http-adapter.js';
import type { KindAdapter } from './kind-adapter.js';
import { McpAdapter } from './mcp-adapter.js';
import { ProcessAdapter } from './process-adapter.js';
import { cannotTell, pending } from './read-lookup.js';
import { redact } from './redact.js';
import { shortText } from './short-text.js';

export interface UpstreamsOptions {
  /** Most bytes of an answer that are read; 1 MiB when left out. */
  readonly maxResponseBytes?: number;
}

/** All upstreams of a process, of every kind: the one way out. */
export class Upstreams implements UpstreamAdapter {
  readonly #kinds: { readonly [K in Upstream['kind']]?: KindAdapter<Extract<Upstream, { kind: K }>> };

  constructor(validateOutput: ValidateOutput, options: UpstreamsOptions = {}) {
    const maxBytes = options.maxResponseBytes ?? 1024 * 1024;
    this.#kinds = {
      http: new HttpAdapter(validateOutput, maxBytes),
      mcp: new McpAdapter(validateOutput, maxBytes),
      process: new ProcessAdapter(validateOutput),
    };
  }

  async call(request: UpstreamRequest, options: CallOptions): Promise<Verdict> {
    const upstream = upstreamOf(request);
    // The real address must not take the place of a sandbox that is not there.
    if (upstream === null) return notExecuted('no_sandbox', false, `${request.tool.name} has no sandbox`);
    const verdict = await this.#adapter(upstream).call({ upstream, request, credential: null }, options);
    return presentable(verdict, request);
  }

  async lookup(request: LookupRequest, options: LookupOptions = {}): Promise<LookupAnswer> {
    const upstream = upstreamOf(request);
    if (upstream === null) return cannotTell(`${request.tool.name} has no sandbox`);
    return presentable(await this.#adapter(upstream).lookup({ upstream, request, credential: null }, options), request);
  }

  async poll(request: PollRequest, options: LookupOptions = {}): Promise<PollAnswer> {
    const upstream = upstreamOf(request);
    if (upstream === null) return pending(`${request.tool.name} has no sandbox`);
    return presentable(await this.#adapter(upstream).poll({ upstream, request, credential: null }, options), request);
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#kinds).map((adapter) => adapter.close()));
  }

  #adapter(upstream: Upstream): KindAdapter<Upstream> {
    const adapter = this.#kinds[upstream.kind];
    if (adapter === undefined) throw new Error(`no adapter for ${upstream.kind}`);
    return adapter as unknown as KindAdapter<Upstream>;
  }
}

/**
 * The one way out for texts, which end up in logs, events and the agent's messages. They are redacted first: a cut
 * could leave half a secret, which nothing would recognise.
 */
function presentable<T extends Verdict | LookupAnswer | PollAnswer>(result: T, request: LookupRequest): T {
  return 'detail' in result ? { ...result, detail: shortText(redact(result.detail, request)) } : result;
}
