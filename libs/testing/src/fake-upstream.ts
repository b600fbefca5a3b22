import type { Json, JsonObject, LookupAnswer, PollAnswer, Verdict } from '@intendant/intent';
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
} from '@intendant/upstream';
import { type Reaction, ScriptedUpstream, type Seen } from './scripted-upstream.js';

export interface FakeUpstreamOptions {
  /** Left out: everything is a receipt. */
  readonly validateOutput?: ValidateOutput;
  /** By name. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Names of upstreams that cannot be reached. */
  readonly unreachable?: readonly string[];
}

/**
 * An upstream of any kind without sockets and processes, for tests that need only what the port says. It keeps to the
 * same conformance suite as the real adapters; `script` decides what it does and holds what it saw.
 */
export class FakeUpstream implements UpstreamAdapter {
  readonly script = new ScriptedUpstream();
  /** Work that was begun and has neither ended nor been given up. */
  open = 0;
  #closed = false;
  readonly #running = new Set<Promise<unknown>>();

  constructor(private readonly options: FakeUpstreamOptions = {}) {}

  async call(request: UpstreamRequest, options: CallOptions): Promise<Verdict> {
    const refusal = this.#refusal(request, options);
    if (refusal) return { kind: 'not_executed', retryAfterMs: null, sent: false, ...refusal };
    const reaction = this.#react(this.script.call({ ...this.#seen(request), attemptId: request.attemptId }), {
      signal: options.signal,
      ms: request.tool.limits.callMs,
    });
    try {
      options.onSend?.();
    } catch {
      // Only a notice.
    }
    return this.#verdict(request, await reaction);
  }

  async lookup(request: LookupRequest, { signal }: LookupOptions = {}): Promise<LookupAnswer> {
    const cannotTell = (detail: string): LookupAnswer => ({ kind: 'cannot_tell', detail });
    const why = this.#unaskable(request, 'lookup', signal);
    if (why !== null) return cannotTell(why);
    const ms = request.tool.limits.callMs;
    const reaction = await this.#react(Promise.resolve(this.script.lookup(this.#seen(request))), { signal, ms });
    if (reaction.kind !== 'answer') return cannotTell(reaction.kind);
    const [receipt] = reaction.data['found'] as readonly JsonObject[];
    if (receipt === undefined) return { kind: 'absent' };
    const problem = this.#problem(request, receipt);
    return problem === null ? { kind: 'present', data: receipt } : cannotTell(problem);
  }

  async poll(request: PollRequest, { signal }: LookupOptions = {}): Promise<PollAnswer> {
    const pending = (detail: string): PollAnswer => ({ kind: 'pending', detail });
    const why = this.#unaskable(request, 'poll', signal);
    if (why !== null) return pending(why);
    const asked = Promise.resolve(this.script.poll(this.#seen(request), request.accepted));
    const reaction = await this.#react(asked, { signal, ms: request.tool.limits.callMs });
    if (reaction.kind !== 'answer') return pending(reaction.kind);
    const { state, result = null } = reaction.data;
    if (state === 'failed') return { kind: 'failed', detail: 'given up' };
    if (state !== 'done') return pending('not done yet');
    const problem = this.#problem(request, result);
    return problem === null ? { kind: 'executed', data: result } : pending(problem);
  }

  /** There is nothing in it that could be looked at. */
  async preview({ tool }: LookupRequest): Promise<PreviewAnswer> {
    return { kind: 'failed', cause: 'no_preview', detail: `${tool.name} has no preview` };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#running);
  }

  #verdict(request: UpstreamRequest, reaction: Outcome): Verdict {
    const unknown = (cause: string): Verdict => ({ kind: 'unknown', cause, detail: cause });
    const useless = (cause: string, detail: string): Verdict =>
      request.tool.effect === 'read'
        ? { kind: 'not_executed', cause: 'output_invalid', transient: false, retryAfterMs: null, detail }
        : { kind: 'unknown', cause, detail };
    switch (reaction.kind) {
      case 'answer': {
        const problem = this.#problem(request, reaction.data);
        return problem === null ? { kind: 'executed', data: reaction.data } : useless('no_receipt', problem);
      }
      case 'accept':
        return { kind: 'accepted', data: reaction.data };
      case 'refuse':
        return { kind: 'not_executed', cause: 'refused', transient: false, retryAfterMs: null, detail: 'refused' };
      case 'garbage':
        return useless('no_receipt', 'no data');
      case 'too_large':
        return useless('response_too_large', 'too much');
      case 'timeout':
        return unknown('call_timeout');
      case 'aborted':
        return unknown('aborted');
      case 'die':
      case 'error':
      case 'hang':
        return unknown('gone');
    }
  }

  #refusal(request: UpstreamRequest, { signal, mayStart }: CallOptions) {
    const upstream = upstreamOf(request);
    if (upstream === null) return { cause: 'no_sandbox', transient: false, detail: 'no sandbox' };
    if (this.#closed) return { cause: 'client_closed', transient: true, detail: 'closed' };
    if (signal?.aborted) return { cause: 'aborted_unsent', transient: true, detail: 'aborted' };
    if (this.#isUnreachable(request)) return { cause: 'connect_refused', transient: true, detail: 'nobody is there' };
    try {
      if (mayStart()) return null;
    } catch {
      // A lease that cannot be checked is over.
    }
    return { cause: 'lease_over', transient: true, detail: 'the lease was over' };
  }

  #unaskable(request: LookupRequest, question: 'lookup' | 'poll', signal: AbortSignal | undefined): string | null {
    const upstream = upstreamOf(request);
    if (upstream === null) return 'no sandbox';
    if (upstream[question] === null) return `no ${question}`;
    if (this.#closed) return 'closed';
    if (signal?.aborted) return 'aborted';
    return this.#isUnreachable(request) ? 'nobody is there' : null;
  }

  #isUnreachable(request: LookupRequest): boolean {
    return this.options.unreachable?.includes(upstreamOf(request)?.name ?? '') ?? false;
  }

  #seen(request: LookupRequest): Seen {
    const { key, args, sandbox } = request;
    const credential = this.options.secrets?.[upstreamOf(request)?.credential ?? ''] ?? null;
    return { key, args, sandbox, credential };
  }

  #problem({ tool }: LookupRequest, data: Json): string | null {
    return this.options.validateOutput?.(tool, data) ?? null;
  }

  /** What came of it within the limit. */
  #react(reaction: Promise<Reaction>, { signal, ms }: { signal: AbortSignal | undefined; ms: number }) {
    const outcome = new Promise<Outcome>((resolve) => {
      this.open++;
      const end = (result: Outcome) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        resolve(result);
      };
      const onAbort = () => end({ kind: 'aborted' });
      const timer = setTimeout(() => end({ kind: 'timeout' }), ms);
      signal?.addEventListener('abort', onAbort, { once: true });
      void reaction.then((result) => {
        if (result.kind !== 'hang') end(result);
      });
    }).finally(() => this.open--);
    this.#running.add(outcome);
    void outcome.finally(() => this.#running.delete(outcome));
    return outcome;
  }
}

type Outcome = Reaction | { readonly kind: 'timeout' | 'aborted' };
