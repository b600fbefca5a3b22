import { dirname, resolve } from 'node:path';
import type { McpCall, McpUpstream } from '@intendant/contracts';
import type { Json, JsonObject, LookupAnswer, PollAnswer, Verdict } from '@intendant/intent';
import type {
  CallOptions,
  LookupOptions,
  LookupRequest,
  PollRequest,
  PreviewAnswer,
  UpstreamRequest,
  ValidateOutput,
} from './adapter.js';
import { evaluate } from './expression.js';
import { notExecuted } from './failure-verdict.js';
import type { KindAdapter, Task } from './kind-adapter.js';
import { MappingError } from './mapping-error.js';
import { mcpVerdict, readToolResult, unsent } from './mcp-answer.js';
import { McpExchange, type McpResult, NoSession, type ToolCall } from './mcp-exchange.js';
import { loadClient, McpSessions } from './mcp-sessions.js';
import type { Pools } from './pools.js';
import { cannotTell, pending, readLookup, readPoll } from './read-lookup.js';
import { previewFailed, readPreview } from './read-preview.js';
import { messageOf } from './short-text.js';
import { type View, viewOf } from './view.js';

/** Tools of MCP servers: one `tools/call` per attempt, over a session that is shared and made again when it is lost. */
export class McpAdapter implements KindAdapter<McpUpstream> {
  readonly #sessions: McpSessions;
  readonly #running = new Set<Promise<unknown>>();
  #closed = false;

  constructor(
    private readonly validateOutput: ValidateOutput,
    /** Most bytes of an answer that are read. */
    private readonly maxBytes: number,
    private readonly pools: Pools,
  ) {
    this.#sessions = new McpSessions(pools, maxBytes);
  }

  async call(task: Task<McpUpstream, UpstreamRequest>, options: CallOptions): Promise<Verdict> {
    const { upstream, request } = task;
    const { key, attemptId } = request;
    let args: JsonObject;
    try {
      args = await argumentsOf(upstream, request, { attemptId });
    } catch (error) {
      return unsent(notExecuted('request_mapping', false, messageOf(error)));
    }
    const exchange = await this.#exchange(request, options, { 'Idempotency-Key': key, 'X-Attempt-Id': attemptId });
    const meta = { 'intendant/key': key, 'intendant/attemptId': attemptId };
    const result = await this.#ask(task, exchange, { name: upstream.tool, arguments: args, _meta: meta });
    return mcpVerdict(request.tool, upstream, result, this.validateOutput);
  }

  async lookup(task: Task<McpUpstream>, options: LookupOptions): Promise<LookupAnswer> {
    const { upstream, request } = task;
    const { lookup } = upstream;
    if (lookup === null) return cannotTell(`${request.tool.name} has no lookup`);
    try {
      const answer = await this.#question(task, lookup, {}, options);
      if (typeof answer === 'string') return cannotTell(answer);
      return await readLookup(request.tool, lookup, answer.data, answer.view, request.args, this.validateOutput);
    } catch (error) {
      return cannotTell(messageOf(error));
    }
  }

  async poll(task: Task<McpUpstream, PollRequest>, options: LookupOptions): Promise<PollAnswer> {
    const { upstream, request } = task;
    if (upstream.poll === null) return pending(`${request.tool.name} has no poll`);
    try {
      const { accepted } = request;
      const answer = await this.#question(task, upstream.poll, { accepted }, options);
      if (typeof answer === 'string') return pending(answer);
      return await readPoll(request.tool, upstream.poll, answer.data, answer.view, this.validateOutput);
    } catch (error) {
      return pending(messageOf(error));
    }
  }

  async preview(task: Task<McpUpstream>, options: LookupOptions): Promise<PreviewAnswer> {
    const { tool, args } = task.request;
    const { preview } = tool.approval;
    if (preview?.request.kind !== 'mcp') return previewFailed('no_preview', `${tool.name} has no preview`);
    try {
      const answer = await this.#question(task, preview.request, {}, options);
      if (typeof answer === 'string') return previewFailed('no_answer', answer);
      return await readPreview(tool, preview, answer.view, args);
    } catch (error) {
      return previewFailed('request_mapping', messageOf(error));
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#running);
    await this.#sessions.close();
    await this.pools.close();
  }

  /**
   * Asks another tool of the server. It carries no key, which belongs to the effect.
   *
   * @returns why there is no answer, where there is none
   * @throws MappingError
   */
  async #question(
    task: Task<McpUpstream>,
    call: McpCall,
    more: JsonObject,
    options: LookupOptions,
  ): Promise<{ readonly data: Json; readonly view: View } | string> {
    const args = await argumentsOf(call, task.request, more);
    const exchange = await this.#exchange(task.request, { ...options, mayStart: () => true });
    const result = await this.#ask(task, exchange, { name: call.tool, arguments: args });
    if (result.kind !== 'result') return whyNot(result);
    const { isError, data, text, unfinished } = readToolResult(result.result);
    if (isError) return `${call.tool} failed: ${text}`;
    if (unfinished !== null) return `${call.tool} did not finish`;
    if (!data.ok) return `${call.tool} answered no data: ${data.why}`;
    return { data: data.data, view: viewOf(data.data, { isError, text }) };
  }

  async #exchange(
    { tool }: LookupRequest,
    options: CallOptions,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<McpExchange> {
    // Before any limit runs.
    await loadClient();
    const { connectMs, callMs } = tool.limits;
    const { signal, mayStart, onSend } = options;
    return new McpExchange({ signal, mayStart, onSend, connectMs, callMs, maxBytes: this.maxBytes }, headers);
  }

  async #ask(task: Task<McpUpstream>, exchange: McpExchange, call: ToolCall): Promise<McpResult> {
    if (this.#closed) exchange.settle({ kind: 'no_session', error: closed });
    else void this.#send(task, exchange, call);
    this.#running.add(exchange.result);
    const result = await exchange.result;
    this.#running.delete(exchange.result);
    if (isUnauthorized(result)) task.credential?.refused?.();
    return result;
  }

  async #send(
    { upstream, request, credential }: Task<McpUpstream>,
    exchange: McpExchange,
    call: ToolCall,
  ): Promise<void> {
    const { connectMs } = request.tool.limits;
    // As the tool file reads: what it names is beside it.
    const cwd = dirname(resolve(request.tool.file));
    try {
      const session = await this.#sessions.get({ server: upstream.server, credential, cwd, connectMs });
      if (request.tool.effect !== 'read') {
        // A list that does not come must not use up the limit.
        const obstacle = await session.obstacleTo(call.name, connectMs / 2);
        if (obstacle !== null) throw new NoSession('adapter_missing', true, obstacle);
      }
      session.ask(exchange, call);
    } catch (error) {
      if (error instanceof NoSession) exchange.settle({ kind: 'no_session', error });
      else exchange.failed(error);
    }
  }
}

const closed = new NoSession('client_closed', true, 'shutting down');

/** Of the call, or of the handshake before it. */
function isUnauthorized(result: McpResult): boolean {
  if (result.kind === 'no_session') return result.error.reason === 'http_401';
  return result.kind === 'status' && result.answer.status === 401;
}

async function argumentsOf(call: McpCall, request: LookupRequest, more: JsonObject): Promise<JsonObject> {
  const { args, key, intentId } = request;
  if (call.arguments === '$args') return args;
  const value = await evaluate(call.arguments, { args, key, intentId, ...more }, { args });
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new MappingError(`the arguments of ${call.tool} are not an object`);
  }
  return value as JsonObject;
}

function whyNot(result: Exclude<McpResult, { kind: 'result' }>): string {
  switch (result.kind) {
    case 'error':
      return `the server answered ${result.code}: ${result.message}`;
    case 'status':
      return `the server answered ${result.answer.status}`;
    case 'useless':
    case 'refused':
      return result.detail;
    default:
      return messageOf(result.error);
  }
}
