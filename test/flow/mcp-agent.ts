import type { ErrorObject, IntentResult } from '@intendant/contracts';
import {
  type CallToolResult,
  Client,
  type Progress,
  type RequestOptions,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';

export const lanes = ['2026-07-28', '2025-11-25'] as const;
export type Lane = (typeof lanes)[number];

export interface McpAnswer {
  readonly isError: boolean;
  readonly result: IntentResult;
  readonly error: ErrorObject;
  readonly texts: string[];
}

/** An agent whose runtime speaks MCP, with the official client. */
export class McpAgent {
  private constructor(
    readonly client: Client,
    private readonly transport: StreamableHTTPClientTransport,
  ) {}

  static async connect(
    url: string,
    token: string,
    lane: Lane,
    { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
  ): Promise<McpAgent> {
    const client = new Client(
      { name: 'flow-test', version: '1' },
      lane === '2026-07-28' ? { versionNegotiation: { mode: { pin: lane } } } : {},
    );
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp${query}`), {
      requestInit: { headers: { authorization: `Bearer ${token}`, ...headers } },
    });
    await client.connect(transport);
    return new McpAgent(client, transport);
  }

  async call(
    name: string,
    args: Record<string, unknown>,
    { stepId, ...options }: { stepId?: string } & RequestOptions = {},
  ): Promise<McpAnswer> {
    const meta = stepId === undefined ? {} : { _meta: { 'intendant/stepId': stepId } };
    const answer = (await this.client.callTool({ name, arguments: args, ...meta }, options)) as CallToolResult;
    const structured = answer.structuredContent as unknown as IntentResult & { error: ErrorObject };
    return {
      isError: answer.isError === true,
      result: structured,
      error: structured.error,
      texts: answer.content.map((each) => (each.type === 'text' ? each.text : '')),
    };
  }

  async close(): Promise<void> {
    await this.client.close();
    await this.transport.close();
  }
}

export type { Progress };
