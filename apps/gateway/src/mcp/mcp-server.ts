import { type ErrorObject, type IntentResult, Refusal } from '@intendant/contracts';
import type { CatalogueEntry } from '@intendant/tools';
import {
  type CallToolRequest,
  type CallToolResult,
  createMcpHandler,
  isJsonContentType,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { traceIn } from '../forwarded.js';
import type { AgentCalls, McpCaller, Waiting } from './agent-calls.js';
import { answerOf, answerOfData, answerOfError } from './answers.js';
import { listed, namespacesOf, pageOf } from './listed-tools.js';
import { callTool, cancelIntent, getIntent, ownTools, searchTools } from './own-tools.js';
import { type FieldsOf, readArguments } from './read-arguments.js';
import { readBody } from './read-body.js';

/** Which tools are listed, from the query of the URL. */
export interface View {
  /** Only those of this namespace. */
  readonly namespace: string | undefined;
  /** None but the server's own: the others are searched for and called through it. */
  readonly search: boolean;
}

export interface McpRequest {
  readonly caller: McpCaller;
  readonly view: View;
  /** Longest wait for an outcome, in ms. */
  readonly waitMs: number;
  /** Any failure, as the caller is told. */
  readonly explain: (failure: unknown) => ErrorObject;
}

const stepKey = 'intendant/stepId';
const mostFound = 50;
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
  const { fetch } = createMcpHandler(() => serverFor(calls, request));
  // What is said to be no JSON is refused by the SDK.
  const readable = Buffer.isBuffer(body) && isJsonContentType(message.headers.get('content-type'));
  return fetch(message, readable ? { parsedBody: readBody(body) } : {});
}

function serverFor(calls: AgentCalls, request: McpRequest): Server {
  const server = new Server(
    { name: 'intendant', version: '1' },
    { capabilities: { tools: {} }, instructions, supportedProtocolVersions: revisions },
  );
  server.setRequestHandler('tools/list', ({ params }) =>
    asProtocol(request, () => list(calls, request, params?.cursor)),
  );
  server.setRequestHandler('tools/call', ({ params }, context) =>
    asProtocol(request, () => call(calls, request, params, context)),
  );
  return server;
}

async function list(calls: AgentCalls, { caller, view }: McpRequest, cursor: string | undefined) {
  const catalogue = view.search ? [] : await calls.tools(caller, view.namespace ? { namespace: view.namespace } : {});
  const own = view.search ? [...ownTools, callTool] : ownTools;
  const names = new Set(own.map(({ name }) => name));
  const others = catalogue.filter(({ name }) => !names.has(name)).map(listed);
  return { ...pageOf([...own, ...others], cursor) };
}

async function call(
  calls: AgentCalls,
  request: McpRequest,
  { name, arguments: args = {} }: CallToolRequest['params'],
  context: ServerContext,
): Promise<CallToolResult> {
  const { caller } = request;
  const step = context.mcpReq._meta?.[stepKey];
  const submit = async (tool: string, its: unknown) =>
    answerOf(
      await calls.submit(
        callerIn(caller, context),
        { tool, args: its, ...(step !== undefined && { stepId: step }) },
        waiting(request.waitMs, context),
      ),
    );
  try {
    if (name === searchTools.name) {
      const filter = readArguments(searchTools, args, { query: 'string', namespace: 'string' });
      return answerOfData(found(await calls.tools(caller, filter), filter));
    }
    if (name === getIntent.name || name === cancelIntent.name) {
      const { intentId = '', wait = 0 } = readArguments(getIntent, args, { intentId: 'string', wait: 'number' });
      const patience = waiting(Math.min(wait, 30) * 1_000, context);
      const ask = name === cancelIntent.name ? calls.cancel : calls.read;
      // It was answered, whatever the answer says of the call that it is about.
      return { ...answerOf(await ask.call(calls, caller, intentId, patience)), isError: false };
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
) {
  const namespaces = namespacesOf(tools);
  if (query === undefined && namespace === undefined) return { namespaces, tools: [], total: tools.length };
  const shown = tools.slice(0, mostFound);
  const note =
    shown.length < tools.length
      ? { note: `Showing ${shown.length} of ${tools.length}, by name; narrow with query or namespace.` }
      : {};
  return { namespaces, tools: shown.map(listed), total: tools.length, ...note };
}

/** A trace may also come with the message (SEP-414). */
function callerIn(caller: McpCaller, { mcpReq }: ServerContext): McpCaller {
  return { ...caller, headers: { ...traceIn(mcpReq._meta?.['traceparent']), ...caller.headers } };
}

function waiting(ms: number, { mcpReq }: ServerContext): Waiting {
  const progressToken = mcpReq._meta?.progressToken;
  return {
    ms,
    signal: mcpReq.signal,
    onProgress: async (result, waitedMs) => {
      if (progressToken === undefined) return;
      const params = { progressToken, progress: Math.round(waitedMs / 100) / 10, message: progressOf(result) };
      // Somebody who has hung up hears nothing, which changes nothing.
      await mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
    },
  };
}

function progressOf({ tool, status, intentId, summary }: IntentResult): string {
  return summary ?? `${tool} is ${status.replaceAll('_', ' ')} (intent ${intentId})`;
}

/** A refusal as a JSON-RPC error, with the error object of every other surface in its data. */
async function asProtocol<T>({ explain }: McpRequest, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (failure) {
    const error = explain(failure);
    const wrong = failure instanceof Refusal && error.category === 'validation';
    throw new ProtocolError(wrong ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError, error.message, {
      error,
    });
  }
}
