import type { McpUpstream } from '@intendant/contracts';
import { Client, type JSONRPCMessage, ProtocolError, SdkError, SdkHttpError } from '@modelcontextprotocol/client';
import type { Credential } from './credential.js';
import { type McpExchange, type McpResult, NoSession, type ToolCall, tokenHeader } from './mcp-exchange.js';
import { McpHttp } from './mcp-http.js';
import { obstacleTo, offeredBy } from './mcp-offered.js';
import { McpProcess } from './mcp-process.js';
import type { Pools } from './pools.js';
import { messageOf } from './short-text.js';
import { statusTable } from './status-table.js';
import { codeOf, unsentRule } from './transport-errors.js';

export interface SessionOptions {
  readonly server: McpUpstream['server'];
  readonly credential: Credential | null;
  /** Folder that a child process runs in. */
  readonly cwd: string;
  readonly connectMs: number;
  readonly maxBytes: number;
  readonly pools: Pools;
}

/** Longer than any call: our own limits end a request, not the client's. */
const never = 2 ** 31 - 1;
const vague = 'mcp_connect_failed';
/** Statuses of a call after which its session is not used again: the server does not know it, or not the caller. */
const strangers = new Set([400, 401, 403, 404]);
/** How long a server may take to hear that a session is over, in ms. */
const leaveMs = 1_000;

/** A conversation with one MCP server, as one client, shared by the calls of many. */
export class McpSession {
  readonly #open = new Map<string, McpExchange>();
  readonly #client: Client;
  readonly #transport: McpHttp | McpProcess;
  /** Asked for when a call first needs it. */
  #offered: ReturnType<typeof offeredBy> | null = null;
  #retired = false;
  /** The server would not understand that it is over. */
  #lost = false;
  #closed: Promise<void> | null = null;

  /**
   * Connects and shakes hands, within the connect limit.
   *
   * @throws NoSession
   */
  static async open(options: SessionOptions): Promise<McpSession> {
    const deadline = Date.now() + options.connectMs;
    try {
      return await McpSession.#opened(options, options.connectMs, false);
    } catch (error) {
      if (!(error instanceof NoSession) || !error.otherRevision) throw error;
      // Servers of revision 2026-07-28 know no handshake.
      return McpSession.#opened(options, Math.max(deadline - Date.now(), 1), true).catch((second: NoSession) => {
        throw second.reason === vague ? error : second;
      });
    }
  }

  static async #opened(options: SessionOptions, ms: number, modern: boolean): Promise<McpSession> {
    const session = new McpSession(options, modern);
    try {
      await session.#connect(ms);
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  private constructor(options: SessionOptions, modern: boolean) {
    const { server, credential, cwd, pools, connectMs, maxBytes } = options;
    const find = (token: string | null) => this.#open.get(token ?? '');
    this.#transport =
      server.transport === 'http'
        ? new McpHttp(
            server.url,
            credential === null
              ? server.headers
              : { ...server.headers, [credential.header.name]: credential.header.value },
            { pools, connectMs, maxBytes, find },
          )
        : new McpProcess({
            command: server.command,
            env: credential === null ? server.env : { ...server.env, INTENDANT_CREDENTIAL: credential.secret },
            cwd,
            maxBytes,
            find,
          });
    this.#client = new Client(
      { name: 'intendant', version: '1' },
      {
        // To fulfil what a tool asks for, it would call the tool again.
        inputRequired: { autoFulfill: false },
        ...(modern && { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
      },
    );
    // The client chains these before its own.
    this.#transport.onmessage = (message: JSONRPCMessage) => this.#onMessage(message);
    this.#transport.onclose = () => {
      this.#retired = true;
    };
  }

  /** False when new calls need a new session. */
  get usable(): boolean {
    return !this.#retired && this.#ending === null;
  }

  /** True while a call has no result. */
  get busy(): boolean {
    return this.#open.size > 0;
  }

  /**
   * Why the server's own list says that a tool cannot be called, or null. Such a call would often be answered like the
   * failure of a tool that ran. Tools come and go, so the list is asked for again before a call is given up for it.
   */
  async obstacleTo(tool: string, ms: number): Promise<string | null> {
    this.#offered ??= offeredBy(this.#client, ms);
    const asked = this.#offered;
    if (obstacleTo(tool, await asked) === null) return null;
    if (this.#offered === asked) this.#offered = offeredBy(this.#client, ms);
    return obstacleTo(tool, await this.#offered);
  }

  /** Hands the call to the transport, once; what becomes of it is told to the exchange. */
  ask(exchange: McpExchange, call: ToolCall): void {
    if (exchange.done) return;
    this.#open.set(exchange.token, exchange);
    void exchange.result.then((result) => this.#onResult(exchange, result));
    // Not `callTool`: it sends again after some errors, and its checks of an answer look like refusals of the server.
    this.#client
      .request(
        { method: 'tools/call', params: { ...call } },
        {
          signal: exchange.cancelled.signal,
          headers: { [tokenHeader]: exchange.token },
          timeout: never,
          allowInputRequired: true,
        },
      )
      .then(
        // Its result was seen as it came; here it has been through schemas that know only some revisions.
        () => {},
        (error: unknown) => this.#onFailure(exchange, error),
      );
  }

  /** Nobody else gets it; it ends when the last open call is done. Resolves when it has ended. */
  async retire(): Promise<void> {
    this.#retired = true;
    while (this.#open.size > 0) await Promise.all([...this.#open.values()].map(({ result }) => result));
    await this.close();
  }

  close(): Promise<void> {
    this.#retired = true;
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    if (this.#transport instanceof McpHttp && !this.#lost) await this.#transport.leave(leaveMs);
    await this.#client.close();
    await this.#transport.close();
  }

  async #connect(ms: number): Promise<void> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      void this.#transport.close();
    }, ms);
    try {
      await this.#client.connect(this.#transport, { timeout: never });
    } catch (error) {
      if (late) throw new NoSession('connect_timeout', true, `no session within ${ms} ms`);
      throw this.#noSession(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Why its process is over. */
  get #ending(): McpProcess['ending'] {
    return this.#transport instanceof McpProcess ? this.#transport.ending : null;
  }

  #noSession(error: unknown): NoSession {
    if (error instanceof SdkHttpError) {
      const status = error.status ?? 0;
      const { transient } = statusTable.get(status) ?? { transient: false };
      // What failed is the handshake, which has no effect.
      const temporary = transient || status === 408 || status >= 500;
      return new NoSession(`http_${status}`, temporary, messageOf(error), [400, 404, 405].includes(status));
    }
    if (error instanceof ProtocolError) return new NoSession('mcp_refused', false, messageOf(error), true);
    if (this.#ending !== null) return new NoSession(this.#ending.cause, true, this.#ending.detail);
    const root = rootOf(error);
    const code = codeOf(root);
    if (['ENOENT', 'EACCES', 'ENOTDIR'].includes(code)) return new NoSession('adapter_missing', true, messageOf(root));
    if (code === '' || error instanceof SdkError) return new NoSession(vague, true, messageOf(error));
    const { cause, transient } = unsentRule(root);
    return new NoSession(cause, transient, `${code}: ${messageOf(root)}`);
  }

  #onMessage(message: JSONRPCMessage): void {
    if (!('id' in message) || 'method' in message) return;
    const exchange = [...this.#open.values()].find(
      ({ rpcId }) => rpcId !== null && String(rpcId) === String(message.id),
    );
    if (exchange === undefined) return;
    if ('error' in message) {
      const { code, message: words, data } = message.error;
      exchange.settle({ kind: 'error', code, message: words, data });
    } else {
      exchange.settle({ kind: 'result', result: message.result });
    }
  }

  #onFailure(exchange: McpExchange, error: unknown): void {
    if (this.#ending !== null) exchange.useless(this.#ending.cause, this.#ending.detail);
    else if (exchange.status !== null && exchange.broken === null) exchange.useless('bad_response', messageOf(error));
    else exchange.failed(error);
  }

  #onResult(exchange: McpExchange, result: McpResult): void {
    this.#open.delete(exchange.token);
    if (result.kind === 'status' && strangers.has(result.answer.status)) {
      this.#lost = true;
      void this.retire();
    }
  }
}

/** The error that began it: the client wraps what goes wrong while it finds out about a server. */
function rootOf(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? error : rootOf(cause);
}
