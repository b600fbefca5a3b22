import type { Upstream } from '@intendant/contracts';
import type { LookupAnswer, PollAnswer, Verdict } from '@intendant/intent';
import { monotonic } from '@intendant/runtime';
import { digest } from '@intendant/tools';
import {
  type CallOptions,
  type LookupOptions,
  type LookupRequest,
  type PollRequest,
  type PreviewAnswer,
  type UpstreamAdapter,
  type UpstreamRequest,
  upstreamOf,
  type ValidateOutput,
} from './adapter.js';
import { type BreakerSettings, Breakers } from './breaker.js';
import type { Credential } from './credential.js';
import { CredentialProvider, type CredentialSource } from './credential-provider.js';
import { Egress, EgressRefused } from './egress.js';
import { notExecuted } from './failure-verdict.js';
import { HttpAdapter } from './http-adapter.js';
import type { KindAdapter, Task } from './kind-adapter.js';
import { McpAdapter } from './mcp-adapter.js';
import { ModuleAdapter } from './module-adapter.js';
import { neededByPoll } from './poll-needs.js';
import { Pools } from './pools.js';
import { ProcessAdapter } from './process-adapter.js';
import { cannotTell, pending } from './read-lookup.js';
import { previewFailed } from './read-preview.js';
import { Redactor } from './redact.js';
import { ResultRedactor } from './redact-result.js';
import { messageOf, shortText } from './short-text.js';
import { stateChanged, tokenOf, withTokenField } from './state-token.js';
import { countAttempt, countLookup, countPoll, countPreview } from './upstream-metrics.js';

export interface UpstreamsOptions {
  /** Most bytes of an answer that are read; 1 MiB when left out. */
  readonly maxResponseBytes?: number;
  /** Where calls may go; anywhere when left out. */
  readonly egress?: Egress;
  /** The credentials that tools name; none when left out. */
  readonly credentials?: CredentialSource;
  /** Of the circuit breakers; for tests, which cannot wait. */
  readonly breaker?: BreakerSettings;
}

/** All upstreams of a process, of every kind: the one way out. */
export class Upstreams implements UpstreamAdapter {
  readonly #breakers: Breakers;
  readonly #kinds: { readonly [K in Upstream['kind']]?: KindAdapter<Extract<Upstream, { kind: K }>> };
  readonly #credentials: CredentialProvider;

  constructor(validateOutput: ValidateOutput, options: UpstreamsOptions = {}) {
    const { egress = Egress.unlimited, credentials = () => new Map(), maxResponseBytes = 1024 * 1024 } = options;
    this.#breakers = new Breakers(options.breaker);
    this.#credentials = new CredentialProvider(credentials, egress);
    this.#kinds = {
      http: new HttpAdapter(validateOutput, maxResponseBytes, new Pools(egress)),
      mcp: new McpAdapter(validateOutput, maxResponseBytes, new Pools(egress)),
      process: new ProcessAdapter(validateOutput),
      module: new ModuleAdapter(validateOutput, maxResponseBytes),
    };
  }

  async call(request: UpstreamRequest, options: CallOptions): Promise<Verdict> {
    const since = monotonic();
    const verdict = await this.#call(request, options);
    countAttempt(request.tool.name, verdict, since);
    return verdict;
  }

  async lookup(request: LookupRequest, options: LookupOptions = {}): Promise<LookupAnswer> {
    const answer = await this.#ask(request, options, cannotTell, (adapter, task) => adapter.lookup(task, options));
    countLookup(request.tool.name, answer);
    return answer;
  }

  async poll(request: PollRequest, options: LookupOptions = {}): Promise<PollAnswer> {
    const answer = await this.#ask(request, options, pending, (adapter, task) => adapter.poll(task, options));
    countPoll(request.tool.name, answer);
    return answer;
  }

  async preview(request: LookupRequest, options: LookupOptions = {}): Promise<PreviewAnswer> {
    // Where the tool file says so, the sandbox shows what the real thing would do.
    const sandbox = request.sandbox || request.tool.approval.preview?.use === 'sandbox';
    const failed = (why: string, cause: string) => previewFailed(cause, why);
    const preview = await this.#ask({ ...request, sandbox }, options, failed, async (adapter, task) =>
      withUsableToken(await adapter.preview(task, options), task),
    );
    countPreview(request.tool.name, preview);
    return preview;
  }

  async close(): Promise<void> {
    await Promise.all([this.#credentials, ...Object.values(this.#kinds)].map((part) => part.close()));
  }

  async #call(request: UpstreamRequest, options: CallOptions): Promise<Verdict> {
    const upstream = upstreamOf(request);
    // The real address must not take the place of a sandbox that is not there.
    if (upstream === null) return notExecuted('no_sandbox', false, `${request.tool.name} has no sandbox`);
    if (request.stateToken !== undefined && tokenOf(request) === null) {
      return notExecuted('request_mapping', false, `${request.tool.name} does not say how its state token is applied`);
    }
    let credential: Credential | null;
    try {
      credential = await this.#credential(upstream, request, options.signal);
    } catch (error) {
      return withoutCredential(error, options.signal);
    }
    const { onLate } = options;
    const late = onLate && ((verdict: Verdict) => onLate(presentable(verdict, upstream, request, credential)));
    const task = { upstream, request: withTokenField(request), credential };
    const call = () => this.#adapter(upstream).call(task, { ...options, onLate: late });
    const attempt = async () => (await this.#changed(request, options)) ?? (await call());
    const verdict = await this.#breakers.call(upstream, attempt);
    return presentable(renewable(verdict, credential), upstream, request, credential);
  }

  /** Looks again where only that can tell; null when what was approved is still there, or nobody asked. */
  async #changed(request: UpstreamRequest, { signal }: CallOptions): Promise<Verdict | null> {
    const { stateToken } = request;
    if (stateToken === undefined || tokenOf(request)?.apply.kind !== 'reread') return null;
    const again = await this.preview(request, signal ? { signal } : {});
    if (again.kind === 'failed') return notExecuted('preview_failed', true, `${again.cause}: ${again.detail}`);
    return again.token === stateToken ? null : notExecuted('state_changed', false, stateChanged);
  }

  async #ask<R extends LookupRequest, A extends LookupAnswer | PollAnswer | PreviewAnswer>(
    request: R,
    { signal }: LookupOptions,
    nothing: (why: string, cause: string) => A,
    ask: (adapter: KindAdapter<Upstream>, task: Task<Upstream, R>) => Promise<A>,
  ): Promise<A> {
    const upstream = upstreamOf(request);
    if (upstream === null) return nothing(`${request.tool.name} has no sandbox`, 'no_sandbox');
    let credential: Credential | null;
    try {
      credential = await this.#credential(upstream, request, signal);
    } catch (error) {
      const { cause, detail } = withoutCredential(error, signal);
      return nothing(detail, cause);
    }
    const answer = await ask(this.#adapter(upstream), { upstream, request, credential });
    return presentable(answer, upstream, request, credential);
  }

  #credential(upstream: Upstream, request: LookupRequest, signal?: AbortSignal): Promise<Credential> | null {
    return upstream.credential === null ? null : this.#credentials.get(upstream.credential, request, signal);
  }

  #adapter(upstream: Upstream): KindAdapter<Upstream> {
    const adapter = this.#kinds[upstream.kind];
    if (adapter === undefined) throw new Error(`no adapter for ${upstream.kind}`);
    return adapter as unknown as KindAdapter<Upstream>;
  }
}

/** Nothing was sent: there was nothing to send it with. */
function withoutCredential(error: unknown, signal: AbortSignal | undefined): ReturnType<typeof notExecuted> {
  const [cause, transient] = signal?.aborted
    ? (['aborted_unsent', true] as const)
    : error instanceof EgressRefused
      ? (['egress_refused', false] as const)
      : (['credential_unavailable', true] as const);
  return notExecuted(cause, transient, shortText(messageOf(error)));
}

/** A 401 to a token that can be had anew is no last word: the next attempt carries another. */
function renewable(verdict: Verdict, credential: Credential | null): Verdict {
  const expired = credential?.refused !== undefined && verdict.kind === 'not_executed' && verdict.cause === 'http_401';
  return expired ? { ...verdict, transient: true } : verdict;
}

/**
 * The one way out for texts and data, which end up in logs, events and the agent's messages: secrets of the request go, and
 * what the tool's results are not to hold. Texts are redacted first and shortened then: a cut could leave half a secret, which nothing would recognise.
 */
function presentable<T extends Verdict | LookupAnswer | PollAnswer | PreviewAnswer>(
  result: T,
  upstream: Upstream,
  request: LookupRequest,
  credential: Credential | null,
): T {
  const secrets = new Redactor(upstream, request, credential);
  const rules = new ResultRedactor(request.tool);
  const detail = 'detail' in result ? { detail: shortText(rules.words(secrets.text(result.detail))) } : {};
  if (result.kind === 'shown') {
    const [before, after] = [result.before, result.after].map((data) => rules.data(secrets.data(data)));
    return { ...result, before, after };
  }
  if (!('data' in result)) return { ...result, ...detail };
  const told = secrets.data(result.data);
  const data = rules.data(told, result.kind === 'accepted' ? neededByPoll(upstream) : []);
  // Two receipts that differ in what was taken out are two receipts.
  const receipt = result.kind === 'present' && data !== told ? { receipt: digest(told) } : {};
  return { ...result, data, ...detail, ...receipt };
}

/** A token that had to be changed would never fit again. */
function withUsableToken(preview: PreviewAnswer, { upstream, request, credential }: Task<Upstream>): PreviewAnswer {
  if (preview.kind === 'failed') return preview;
  const { token } = preview;
  return new Redactor(upstream, request, credential).data(token) === token
    ? preview
    : previewFailed('token_unusable', '"token" repeats a secret of the request');
}
