import { isSettled, Refusal, resultOf } from '@intendant/contracts';
import type { Intent } from '@intendant/intent';
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  fromJsonSchema,
  MissingRequiredClientCapabilityError,
  type Result,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { AgentCalls, McpCaller } from './agent-calls.js';
import { answerOf, progressOf } from './answers.js';
import { asProtocol, type Explain } from './as-protocol.js';
import { isLong } from './tell-progress.js';

const id = 'io.modelcontextprotocol/tasks';
/**
 * The capability of both sides.
 *
 * @see SEP-2663, an extension of revision 2026-07-28; what 2025-11-25 calls tasks is something else
 */
export const tasksExtension = { [id]: {} };

/** An intent as its caller follows it: the id of the task is that of the intent. Times are RFC 3339. */
interface Task {
  readonly taskId: string;
  readonly status: 'working' | 'completed' | 'cancelled';
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  /** It is never discarded. */
  readonly ttlMs: null;
  /** When to ask again; left out where that tells nothing new. */
  readonly pollIntervalMs?: number;
}

export function declaresTasks({ mcpReq }: ServerContext): boolean {
  // Was checked by the SDK, whose type of it is empty.
  const envelope: { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } = mcpReq.envelope ?? {};
  return Object.hasOwn(envelope[CLIENT_CAPABILITIES_META_KEY]?.extensions ?? {}, id);
}

/** The answer to a `tools/call` that is not over yet. */
export function taskCreated(intent: Intent): CallToolResult {
  // The SDK has no type for it.
  return { resultType: 'task', ...taskOf(intent) } as unknown as CallToolResult;
}

/** Answers the methods of the extension. */
export function serveTasks(
  server: Server,
  calls: AgentCalls,
  caller: McpCaller,
  explain: Explain,
  shown: (answer: CallToolResult) => CallToolResult,
): void {
  const on = (method: string, answer: (taskId: string, signal: AbortSignal) => Promise<Result>) =>
    server.setRequestHandler(method, { params }, ({ taskId }, context) => {
      if (!declaresTasks(context)) {
        throw new MissingRequiredClientCapabilityError(
          { requiredCapabilities: { extensions: tasksExtension } },
          `${method} is for clients that declare the extension ${id} with every message.`,
        );
      }
      return asProtocol(explain, () => answer(taskId, context.mcpReq.signal));
    });
  on('tasks/get', async (taskId) => detailed(await calls.intent(caller, taskId), shown));
  // Nothing is ever asked of the client, and answers to what was not asked are ignored.
  on('tasks/update', async (taskId) => {
    await calls.intent(caller, taskId);
    return {};
  });
  // It is a wish: what became of it is seen by the next tasks/get.
  on('tasks/cancel', async (taskId, signal) => {
    await calls.cancel(caller, taskId, { ms: 0, signal }).catch((failure: unknown) => {
      if (!(failure instanceof Refusal && failure.error.code === 'conflict')) throw failure;
    });
    return {};
  });
}

const params = fromJsonSchema<{ taskId: string }>({
  type: 'object',
  required: ['taskId'],
  properties: { taskId: { type: 'string' } },
});

function taskOf(intent: Intent): Task {
  const { proposal, state, recordedAt, since } = intent;
  const task = {
    taskId: proposal.intentId,
    createdAt: new Date(recordedAt).toISOString(),
    lastUpdatedAt: new Date(since).toISOString(),
    ttlMs: null,
  };
  const result = resultOf(intent, false);
  if (state === 'cancelled') return { ...task, status: 'cancelled', statusMessage: progressOf(result) };
  // `failed` is of errors of the protocol, and what is waiting for a person cannot be answered by the client.
  if (isSettled(state)) return { ...task, status: 'completed' };
  return {
    ...task,
    status: 'working',
    statusMessage: progressOf(result),
    pollIntervalMs: isLong(state) ? 5_000 : 1_000,
  };
}

/** With the answer that the call would have got, had it been waited for. */
function detailed(intent: Intent, shown: (answer: CallToolResult) => CallToolResult): Result {
  const task = { ...taskOf(intent) };
  if (task.status !== 'completed') return task;
  return { ...task, result: { resultType: 'complete', ...shown(answerOf(resultOf(intent, false))) } };
}
