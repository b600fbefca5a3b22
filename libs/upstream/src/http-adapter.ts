import type { HttpPoll, HttpUpstream, LookupDefinition } from '@intendant/contracts';
import type { Json, LookupAnswer, PollAnswer, Verdict } from '@intendant/intent';
import type {
  CallOptions,
  LookupOptions,
  LookupRequest,
  PollRequest,
  PreviewAnswer,
  UpstreamRequest,
  ValidateOutput,
} from './adapter.js';
import { answerVerdict } from './answer-verdict.js';
import { type Answer, type AnswerHeaders, type ExchangeOptions, type ExchangeResult, exchange } from './exchange.js';
import { failureVerdict, notExecuted } from './failure-verdict.js';
import { buildCall, buildPreview, buildQuestion, type WireRequest } from './http-request.js';
import { parseBody } from './json-body.js';
import type { KindAdapter, Task } from './kind-adapter.js';
import type { Pools, Sender } from './pools.js';
import { cannotTell, pending, readLookup, readPoll } from './read-lookup.js';
import { previewFailed, readPreview } from './read-preview.js';
import { messageOf } from './short-text.js';
import { changedStatuses } from './state-token.js';
import { viewOf } from './view.js';

/** HTTP upstreams: one wire request per attempt, no redirects, no retries, a verdict for everything. */
export class HttpAdapter implements KindAdapter<HttpUpstream> {
  constructor(
    private readonly validateOutput: ValidateOutput,
    /** Most bytes of an answer's body that are read. */
    private readonly maxBytes: number,
    /** Its own: closed with it. */
    private readonly pools: Pools,
  ) {}

  async call(task: Task<HttpUpstream, UpstreamRequest>, options: CallOptions): Promise<Verdict> {
    const { upstream, request } = task;
    let wire: WireRequest;
    let pool: Sender | null;
    try {
      wire = await buildCall(task);
      pool = this.pools.get(wire.origin, request.tool.limits.connectMs, upstream.http2);
    } catch (error) {
      return notExecuted('request_mapping', false, messageOf(error));
    }
    if (pool === null) return notExecuted('client_closed', true, 'shutting down');
    const result = await exchange(pool, wire, this.#bounds(request, options));
    noteRefusal(task, result);
    return result.kind === 'answer'
      ? answerVerdict(request.tool, upstream, wire, result.answer, changedStatuses(request), this.validateOutput)
      : failureVerdict(result);
  }

  async lookup(task: Task<HttpUpstream>, options: LookupOptions): Promise<LookupAnswer> {
    const { upstream, request } = task;
    const { lookup } = upstream;
    if (lookup === null) return cannotTell(`${request.tool.name} has no lookup`);
    try {
      const asked = await this.#ask(task, lookup, options);
      if (asked.kind === 'nothing') return cannotTell(asked.why);
      // Only two things count as absence: a 200 for which `present` is false, and a status that the tool file
      // declares. No other status does, not even a 404: a proxy that has lost its backend says the same.
      if (lookup.absentStatuses.includes(asked.answer.status)) return { kind: 'absent' };
      const read = readable(asked.answer);
      if (typeof read === 'string') return cannotTell(`the lookup ${read}`);
      const view = viewOf(read.data, { status: asked.answer.status });
      return await readLookup(request.tool, lookup, read.data, view, request.args, this.validateOutput);
    } catch (error) {
      return cannotTell(messageOf(error));
    }
  }

  async poll(task: Task<HttpUpstream, PollRequest>, options: LookupOptions): Promise<PollAnswer> {
    const { upstream, request } = task;
    if (upstream.poll === null) return pending(`${request.tool.name} has no poll`);
    try {
      const asked = await this.#ask(task, upstream.poll, options);
      if (asked.kind === 'nothing') return pending(asked.why);
      const read = readable(asked.answer);
      if (typeof read === 'string') return pending(`the poll ${read}`);
      const view = viewOf(read.data, { status: asked.answer.status });
      return await readPoll(request.tool, upstream.poll, read.data, view, this.validateOutput);
    } catch (error) {
      return pending(messageOf(error));
    }
  }

  async preview(task: Task<HttpUpstream>, options: LookupOptions): Promise<PreviewAnswer> {
    const { tool, args } = task.request;
    const { preview } = tool.approval;
    if (preview?.request.kind !== 'http') return previewFailed('no_preview', `${tool.name} has no preview`);
    let result: ExchangeResult | null;
    try {
      result = await this.#send(task, await buildPreview(task, preview.request), options);
    } catch (error) {
      return previewFailed('request_mapping', messageOf(error));
    }
    if (result === null) return previewFailed('client_closed', 'shutting down');
    if (result.kind !== 'answer') {
      const { cause, detail } = failureVerdict(result);
      return previewFailed(cause, detail);
    }
    const { status, headers, body } = result.answer;
    const words = body.toString('utf8');
    // What was only accepted (202), or is a part (206), shows nothing; what a sandbox created does.
    if (status !== 200 && status !== 201) {
      return previewFailed(`http_${status}`, `the preview answered ${status}: ${words}`);
    }
    const read = dataOf(result.answer);
    if (typeof read === 'string') return previewFailed('preview_unreadable', `the preview ${read}: ${words}`);
    return readPreview(tool, preview, viewOf(read.data, { status, headers: present(headers) }), args);
  }

  async close(): Promise<void> {
    await this.pools.close();
  }

  /** @throws MappingError */
  async #ask(task: Task<HttpUpstream>, question: LookupDefinition | HttpPoll, options: LookupOptions): Promise<Asked> {
    const result = await this.#send(task, buildQuestion(task, question), options);
    if (result === null) return { kind: 'nothing', why: 'shutting down' };
    if (result.kind === 'answer') return result;
    return { kind: 'nothing', why: result.kind === 'refused' ? result.detail : messageOf(result.error) };
  }

  /** Sends a question, which may be repeated freely; null when it is too late for any. */
  async #send(task: Task<HttpUpstream>, wire: WireRequest, options: LookupOptions): Promise<ExchangeResult | null> {
    const pool = this.pools.get(wire.origin, task.request.tool.limits.connectMs, task.upstream.http2);
    if (pool === null) return null;
    const result = await exchange(pool, wire, this.#bounds(task.request, { ...options, mayStart: () => true }));
    noteRefusal(task, result);
    return result;
  }

  #bounds({ tool }: LookupRequest, options: CallOptions): ExchangeOptions {
    const { connectMs, callMs } = tool.limits;
    const { signal, mayStart, onSend } = options;
    return { signal, mayStart, onSend, connectMs, callMs, maxBytes: this.maxBytes };
  }
}

type Asked = { readonly kind: 'answer'; readonly answer: Answer } | { readonly kind: 'nothing'; readonly why: string };

/** A token that the upstream no longer takes must not be used again; this request is not repeated. */
function noteRefusal({ credential }: Task<HttpUpstream>, result: ExchangeResult): void {
  if (result.kind === 'answer' && result.answer.status === 401) credential?.refused?.();
}

/** The data of an answer, or what is wrong with it. */
function readable(answer: Answer): { readonly data: Json } | string {
  return answer.status === 200 ? dataOf(answer) : `answered ${answer.status}`;
}

/** The same, whatever its status. */
function dataOf({ whole, body }: Answer): { readonly data: Json } | string {
  if (!whole) return 'answered too much';
  const parsed = parseBody(body);
  return parsed.ok && body.length > 0 ? { data: parsed.data } : 'answered no JSON';
}

function present(headers: AnswerHeaders): Readonly<Record<string, string | string[]>> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string | string[]] => entry[1] !== undefined),
  );
}
