import { isSettled } from '@intendant/contracts';
import {
  type CatalogueEntry,
  callTool,
  cancelIntent,
  getIntent,
  getResult,
  mcpTool,
  ownTools,
  searchTools,
} from '@intendant/tools';
import {
  type CallToolRequest,
  type CallToolResult,
  createMcpHandler,
  isJsonContentType,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { traceIn } from '../forwarded.js';
import type { AgentCalls, McpCaller, Waiting } from './agent-calls.js';
import { answerOf, answerOfData, answerOfError, answerOfPage, progressOf } from './answers.js';
import { asProtocol, type Explain } from './as-protocol.js';
import type { Cancellations } from './cancellations.js';
import { checkParams } from './check-params.js';
import { completeErrors } from './complete-errors.js';
import { namespacesOf, pageOf } from './listed-tools.js';
import { withoutOutside } from './outside.js';
import { type FieldsOf, readArguments } from './read-arguments.js';
import { readBody } from './read-body.js';
import { declaresTasks, serveTasks, taskCreated, tasksExtension } from './tasks.js';
import type { Tell } from './tell-progress.js';

/** Which tools are listed, from the query of the URL. */
export interface View {
  /** Only those of this namespace. */
  readonly namespace: string | undefined;
  /** None but the server's own: the others are searched for and called through it. */
  readonly search: boolean;
  /** Structured content, too, has what was written outside: its host keeps it from the model. */
  readonly outside: boolean;
}

export interface McpRequest {
  readonly caller: McpCaller;
  readonly cancellations: Cancellations;
  readonly view: View;
  /** Longest wait for an outcome, in ms. */
  readonly waitMs: number;
  readonly explain: Explain;
}

const stepKey = 'intendant/stepId';
/** Those of the revisions that the SDK speaks whose messages come one at a time. */
const revisions = ['2026-07-28', '2025-11-25', '2025-06-18'];
const instructions = [
  'Calls go through Intendant, and each takes effect at most once: sent again, it is answered from the first, unless that only read or did nothing.',
  'Read status and outcome of an answer. A call that is still being worked on, waits for a person, or has an unknown outcome is not failed: do not repeat it in other words; ask intendant.intent.get about its intentId.',
].join(' ');

/** Answers one HTTP request: what it needs is made for it and forgotten with it, so any gateway can answer the next. */
export async function serveMcp(
  calls: AgentCalls,
  request: McpRequest,
  message: Request,
  body: unknown,
): Promise<Response> {
  const { fetch } = createMcpHandler(({ era }) => serverFor(calls, request, era === 'modern'));
  // What is said to be no JSON is refused by the SDK.
  const isJson = message.method === 'POST' && isJsonContentType(message.headers.get('content-type'));
  const parsedBody = isJson && Buffer.isBuffer(body) ? readBody(body) : undefined;
  const wrong = checkParams(parsedBody);
  if (wrong !== null) return Response.json(wrong);
  return completeErrors(await fetch(message, parsedBody === undefined ? {} : { parsedBody }));
}

function serverFor(calls: AgentCalls, request: McpRequest, modern: boolean): Server {
  const { caller, explain } = request;
  const { runId } = caller.session;
  const capabilities = { tools: {}, ...(modern && { extensions: tasksExtension }) };
  const server = new Server(
    { name: 'intendant', version: '1' },
    { capabilities, instructions, supportedProtocolVersions: revisions },
  );
  const shown = request.view.outside ? (answer: CallToolResult) => answer : withoutOutside;
  if (modern) serveTasks(server, calls, caller, explain, shown);
  server.setRequestHandler('tools/list', ({ params }) =>
    asProtocol(explain, () => list(calls, request, params?.cursor)),
  );
  server.setRequestHandler('tools/call', ({ params }, context) =>
    asProtocol(explain, () =>
      request.cancellations.during(runId, context.mcpReq.id, context.mcpReq.signal, async (signal) =>
        shown(await call(calls, request, params, context, signal)),
      ),
    ),
  );
  // The server that the SDK would look in is not the one that the request has come to.
  server.setNotificationHandler('notifications/cancelled', ({ params: { requestId } }) => {
    if (requestId !== undefined) request.cancellations.cancel(runId, requestId);
  });
  return server;
}

async function list(calls: AgentCalls, { caller, view }: McpRequest, cursor: string | undefined) {
  const catalogue = view.search ? [] : await calls.tools(caller, view.namespace ? { namespace: view.namespace } : {});
  const own = view.search ? [...ownTools, callTool] : ownTools;
  const names = new Set(own.map(({ name }) => name));
  const others = catalogue.filter(({ name }) => !names.has(name)).map(mcpTool);
  const { left: _, ...page } = pageOf([...own, ...others], cursor);
  return page;
}

async function call(
  calls: AgentCalls,
  request: McpRequest,
  { name, arguments: args = {} }: CallToolRequest['params'],
  context: ServerContext,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const { caller } = request;
  const step = context.mcpReq._meta?.[stepKey];
  const submit = async (tool: string, its: unknown) => {
    const noticed = new AbortController();
    const until = AbortSignal.any([signal, noticed.signal]);
    const tasks = declaresTasks(context);
    const result = await calls.submit(
      callerIn(caller, context),
      { tool, args: its, ...(step !== undefined && { stepId: step }) },
      // Whoever can follow a task waits no longer than until there would be something to tell.
      tasks
        ? { ms: request.waitMs, signal: until, tell: async () => noticed.abort() }
        : waiting(request.waitMs, context, signal),
    );
    if (!tasks || isSettled(result.status)) return answerOf(result);
    return taskCreated(await calls.intent(caller, result.intentId));
  };
  try {
    if (name === searchTools.name) {
      const wanted = readArguments(searchTools, args, { query: 'string', namespace: 'string', cursor: 'string' });
      const { cursor, ...filter } = wanted;
      return answerOfData(found(await calls.tools(caller, filter), filter, cursor));
    }
    if (name === getIntent.name || name === cancelIntent.name) {
      const { intentId = '', wait = 0 } = readArguments(getIntent, args, { intentId: 'string', wait: 'number' });
      const patience = waiting(Math.min(wait, 30) * 1_000, context, signal);
      const ask = name === cancelIntent.name ? calls.cancel : calls.read;
      // It was answered, whatever the answer says of the call that it is about.
      return { ...answerOf(await ask.call(calls, caller, intentId, patience)), isError: false };
    }
    if (name === getResult.name) {
      const shape = { handle: 'string', pointer: 'string', cursor: 'string', limit: 'number' } as const;
      const { handle = '', ...place } = readArguments(getResult, args, shape);
      return answerOfPage(await calls.page(caller, handle, place));
    }
    if (name === callTool.name && request.view.search) {
      const asked = readArguments(callTool, args, { tool: 'string', arguments: 'object' });
      return await submit(asked.tool ?? '', asked.arguments);
    }
    return await submit(name, args);
  } catch (failure) {
    const error = request.explain(failure);
    // The client called wrongly, not the model: no other arguments would help.
    if (error.code === 'unknown_tool' || error.code === 'invalid_message') throw failure;
    return answerOfError(error);
  }
}

function found(
  tools: readonly CatalogueEntry[],
  { query, namespace }: FieldsOf<{ query: 'string'; namespace: 'string' }>,
  cursor: string | undefined,
) {
  const [namespaces, total] = [namespacesOf(tools), tools.length];
  if (query === undefined && namespace === undefined) return { namespaces, tools: [], total };
  const { left, ...page } = pageOf(tools.map(mcpTool), cursor);
  const note = `${left} more, by name: go on with cursor "${page.nextCursor}", or narrow with query or namespace.`;
  return { namespaces, total, ...page, ...(left > 0 && { note }) };
}

/** A trace may also come with the message (SEP-414). */
function callerIn(caller: McpCaller, { mcpReq }: ServerContext): McpCaller {
  return { ...caller, headers: { ...traceIn(mcpReq._meta?.['traceparent']), ...caller.headers } };
}

function waiting(ms: number, { mcpReq }: ServerContext, signal: AbortSignal): Waiting {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { ms, signal };
  const tell: Tell = (result, waitedMs) => {
    const params = { progressToken, progress: waitedMs / 1_000, message: progressOf(result) };
    return mcpReq.notify({ method: 'notifications/progress', params });
  };
  return { ms, signal, tell };
}
