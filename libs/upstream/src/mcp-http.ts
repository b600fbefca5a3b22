import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import { exchangeOf } from './mcp-exchange.js';
import { type FetchOptions, mcpFetch } from './mcp-fetch.js';

/**
 * MCP over streamable HTTP. The client would sign in again after a 401 and send once more, and follow a 307: without
 * an auth provider and with redirects left alone it does neither.
 */
export class McpHttp extends StreamableHTTPClientTransport {
  constructor(
    url: string,
    headers: Readonly<Record<string, string>>,
    private readonly options: FetchOptions,
  ) {
    super(new URL(url), { fetch: mcpFetch(options), requestInit: { headers: { ...headers }, redirect: 'manual' } });
  }

  override async send(message: JSONRPCMessage | JSONRPCMessage[], options?: TransportSendOptions): Promise<void> {
    if (Array.isArray(message) || !isJSONRPCRequest(message) || message.method !== 'tools/call') {
      await super.send(message, options);
      return;
    }
    const exchange = exchangeOf(this.options.find, options);
    exchange.rpcId = message.id;
    const requestSignal = exchange.over.signal;
    await super.send(message, { ...options, requestSignal, onRequestStreamEnd: () => exchange.ended() });
    // All of it was handed on before this point, unless it is a stream.
    if (!exchange.streaming) exchange.ended();
  }

  /** Tells the server that the session is over, and waits for its answer at most `ms`. */
  async leave(ms: number): Promise<void> {
    const timer = setTimeout(() => void this.close(), ms);
    try {
      await this.terminateSession();
    } catch {
      // The session ends with us anyway; a server that cannot be told forgets it in time.
    }
    clearTimeout(timer);
    await this.close();
  }
}
