import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { JsonObject } from '@intendant/intent';
import {
  NodeStreamableHTTPServerTransport,
  type StreamableHTTPServerTransportOptions,
} from '@modelcontextprotocol/node';
import { type CallToolResult, Server } from '@modelcontextprotocol/server';

/** One `tools/call`, as the server got it. */
export interface ServedCall {
  readonly name: string;
  readonly args: JsonObject;
  readonly meta: JsonObject;
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
  /** Aborted when the client has cancelled it. */
  readonly signal: AbortSignal;
  /** Breaks the connection it came over. */
  readonly drop: () => void;
}

export type ServeCall = (call: ServedCall) => CallToolResult | Promise<CallToolResult>;

export interface Listed {
  readonly names: readonly string[];
  /** Cursor of the next page. */
  readonly next?: string;
  readonly taskSupport?: 'required' | 'optional';
}

interface Posted {
  readonly method: string;
  readonly sessionId: string | null;
  readonly rpc: string | null;
}

/** A server made with the official SDK, over streamable HTTP, with sessions. */
export class McpServerOverHttp {
  /** Every request, in order. */
  readonly posted: Posted[] = [];
  /** The tools that it lists; all are served. */
  list: (cursor?: string) => Listed | Promise<Listed> = () => ({ names: ['act', 'find', 'follow', 'look'] });
  readonly #open = new Set<ServerResponse>();
  readonly #sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  readonly #http = createServer((request, response) => void this.#serve(request, response));

  private constructor(
    private readonly serve: ServeCall,
    private readonly options: StreamableHTTPServerTransportOptions,
  ) {}

  static async start(
    serve: ServeCall,
    options: StreamableHTTPServerTransportOptions = { enableJsonResponse: true },
  ): Promise<McpServerOverHttp> {
    const server = new McpServerOverHttp(serve, options);
    server.#http.listen(0, '127.0.0.1');
    await once(server.#http, 'listening');
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}/mcp`;
  }

  /** Requests that have no answer yet. */
  get open(): number {
    return this.#open.size;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /** As after a restart. */
  forgetSessions(): void {
    this.#sessions.clear();
  }

  count(rpc: string): number {
    return this.posted.filter((each) => each.rpc === rpc).length;
  }

  async stop(): Promise<void> {
    this.#http.closeAllConnections();
    this.#http.close();
    await once(this.#http, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#open.add(response);
    response.on('close', () => this.#open.delete(response));
    const { headers, method = '' } = request;
    const sessionId = headers['mcp-session-id']?.toString() ?? null;
    const body = method === 'POST' ? ((await json(request)) as { method?: string }) : undefined;
    this.posted.push({ method, sessionId, rpc: body?.method ?? null });
    if (method === 'POST' && body?.method === 'initialize') {
      await (await this.#session()).handleRequest(request, response, body);
      return;
    }
    const transport = this.#sessions.get(sessionId ?? '');
    if (transport !== undefined) {
      // The server object knows headers only; a drop needs the connection.
      responses.set(String(headers['x-attempt-id'] ?? ''), response);
      await transport.handleRequest(request, response, body);
      return;
    }
    const error = { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } };
    response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(error));
  }

  async #session(): Promise<NodeStreamableHTTPServerTransport> {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#sessions.set(id, transport),
      onsessionclosed: (id) => void this.#sessions.delete(id),
      ...this.options,
    });
    const server = new Server({ name: 'served', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', async ({ params }) => {
      const { names, next, taskSupport } = await this.list(params?.cursor);
      const more = { inputSchema: { type: 'object' as const }, ...(taskSupport && { execution: { taskSupport } }) };
      return { tools: names.map((name) => ({ name, ...more })), nextCursor: next };
    });
    server.setRequestHandler('tools/call', async ({ params }, ctx) => {
      const request = ctx.http?.req;
      const headers = Object.fromEntries(request?.headers ?? []);
      return this.serve({
        name: params.name,
        args: (params.arguments ?? {}) as JsonObject,
        meta: (ctx.mcpReq._meta ?? {}) as JsonObject,
        headers,
        path: new URL(request?.url ?? 'http://nowhere').pathname,
        signal: ctx.mcpReq.signal,
        drop: () => responses.get(headers['x-attempt-id'] ?? '')?.destroy(),
      });
    });
    await server.connect(transport);
    return transport;
  }
}

const responses = new Map<string, ServerResponse>();
