import type { Upstream } from '@intendant/contracts';
import type { LookupAnswer, PollAnswer, Verdict } from '@intendant/intent';
import { monotonic } from '@intendant/runtime';
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
import { type BreakerSettings, Breakers } from './breaker.js';
import { notExecuted } from './failure-verdict.js';
import { HttpAdapter } from './http-adapter.js';
import type { KindAdapter } from './kind-adapter.js';
import { cannotTell, pending } from './read-lookup.js';
import { redact } from './redact.js';
import { shortText } from './short-text.js';
import { countAttempt, countLookup, countPoll } from './upstream-metrics.js';

export interface UpstreamsOptions {
  /** Most bytes of an answer that are read; 1 MiB when left out. */
  readonly maxResponseBytes?: number;
  /** Of the circuit breakers; for tests, which cannot wait. */
  readonly breaker?: BreakerSettings;
}

/** All upstreams of a process, of every kind: the one way out. */
export class Upstreams implements UpstreamAdapter {
  readonly #breakers: Breakers;
  readonly #kinds: { readonly [K in Upstream['kind']]?: KindAdapter<Extract<Upstream, { kind: K }>> };

  constructor(validateOutput: ValidateOutput, options: UpstreamsOptions = {}) {
    this.#breakers = new Breakers(options.breaker);
    this.#kinds = { http: new HttpAdapter(validateOutput, options.maxResponseBytes ?? 1024 * 1024) };
  }

  async call(request: UpstreamRequest, options: CallOptions): Promise<Verdict> {
    const since = monotonic();
    const upstream = upstreamOf(request);
    // The real address must not take the place of a sandbox that is not there.
    if (upstream === null) return notExecuted('no_sandbox', false, `${request.tool.name} has no sandbox`);
    const attempt = () => this.#adapter(upstream).call({ upstream, request, credential: null }, options);
    const verdict = await this.#breakers.call(upstream, request.sandbox, attempt);
    countAttempt(request.tool.name, verdict, since);
    return presentable(verdict, request);
  }

  async lookup(request: LookupRequest, options: LookupOptions = {}): Promise<LookupAnswer> {
    const upstream = upstreamOf(request);
    if (upstream === null) return cannotTell(`${request.tool.name} has no sandbox`);
    const answer = await this.#adapter(upstream).lookup({ upstream, request, credential: null }, options);
    countLookup(request.tool.name, answer);
    return presentable(answer, request);
  }

  async poll(request: PollRequest, options: LookupOptions = {}): Promise<PollAnswer> {
    const upstream = upstreamOf(request);
    if (upstream === null) return pending(`${request.tool.name} has no sandbox`);
    const answer = await this.#adapter(upstream).poll({ upstream, request, credential: null }, options);
    countPoll(request.tool.name, answer);
    return presentable(answer, request);
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
