import type { IntentResult } from '@intendant/contracts';
import {
  createTaskSessionFromClient,
  type JsonRpcResponse,
  type TaskEnabledSession,
  type TaskOutcome,
} from '@modelcontextprotocol/ext-tasks/client';
import type { TaskId } from '@modelcontextprotocol/ext-tasks/core';
import { McpAgent } from './mcp-agent.js';

const revision = '2026-07-28';
const clientInfo = { name: 'flow-test', version: '1' };
/** What a message of that revision says of its sender. */
export const envelope = {
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
};

interface Sent {
  readonly method: string;
  readonly params: { readonly name?: string; readonly taskId?: string };
}

/** One message of 2026-07-28, with the headers that say the same as it does. */
export function post(
  url: string,
  token: string,
  { method, params }: Sent,
  more: RequestInit & { headers?: Record<string, string> } = {},
): Promise<Response> {
  const name = params.name ?? params.taskId;
  return fetch(`${url}/mcp`, {
    ...more,
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': revision, 'mcp-method': method },
      ...(name !== undefined && { 'mcp-name': name }),
      ...more.headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
}

/** An agent whose runtime follows tasks, with the official client of the extension. */
export class TaskAgent {
  private constructor(
    readonly session: TaskEnabledSession,
    private readonly mcp: McpAgent,
  ) {}

  static async connect(url: string, token: string, headers: Record<string, string> = {}): Promise<TaskAgent> {
    const mcp = await McpAgent.connect(url, token, revision);
    const session = createTaskSessionFromClient(mcp.client, {
      endpointId: url,
      v2RequestFraming: { protocolVersion: revision, clientInfo, clientCapabilities: {} },
      rawDispatch: async (request, { signal } = {}) =>
        answerIn(await post(url, token, request as unknown as Sent, { headers, ...(signal && { signal }) })),
    });
    return new TaskAgent(session, mcp);
  }

  /** How a task ends, and what it said until then. */
  async follow(tool: string, args: Record<string, string | number>) {
    const execution = await this.session.callTool(tool, args);
    const said: string[] = [];
    const { outcome } = await execution.settle({
      onEvent: (event) => {
        if (event.type === 'task') said.push(`${event.task.status}: ${event.task.statusMessage ?? ''}`);
      },
    });
    return { taskId: execution.handle?.taskId ?? null, outcome, answer: answerOf(outcome), said };
  }

  async end(taskId: string): Promise<TaskOutcome<unknown>> {
    return this.session.task(taskId as TaskId).result();
  }

  async close(): Promise<void> {
    await this.session.close();
    await this.mcp.close();
  }
}

/** Of a task that is completed. */
export function answerOf(
  outcome: TaskOutcome<unknown>,
): { readonly isError: boolean; readonly result: IntentResult } | null {
  if (outcome.status !== 'completed') return null;
  const { isError, structuredContent } = outcome.result as { isError: boolean; structuredContent: IntentResult };
  return { isError, result: structuredContent };
}

async function answerIn(response: Response): Promise<JsonRpcResponse> {
  const text = await response.text();
  const { result, error } = JSON.parse(text.startsWith('{') ? text : (/^data: (\{.*"id":.*)$/m.exec(text)?.[1] ?? ''));
  return error === undefined ? { kind: 'result', result } : { kind: 'error', error };
}
