import type { McpUpstream } from '@intendant/contracts';
import type { Credential } from './credential.js';
import { NoSession } from './mcp-exchange.js';
import type { McpSession } from './mcp-session.js';
import type { Pools } from './pools.js';

/** A session that nobody has used this long is ended, in ms: credentials change, and servers keep state for each. */
const idleMs = 5 * 60_000;

export interface WantedSession {
  readonly server: McpUpstream['server'];
  readonly credential: Credential | null;
  readonly cwd: string;
  readonly connectMs: number;
}

/** The client takes 25 MB and a tenth of a second, or a few when a process is busy: only where there are such tools. */
export function loadClient(): Promise<typeof import('./mcp-session.js')> {
  return import('./mcp-session.js');
}

interface Entry {
  readonly opening: Promise<McpSession>;
  usedAt: number;
}

/** One session per server and credential, made when it is wanted and made again when it is gone. */
export class McpSessions {
  readonly #entries = new Map<string, Entry>();
  readonly #ending = new Set<Promise<void>>();
  #closed = false;

  constructor(
    private readonly pools: Pools,
    private readonly maxBytes: number,
  ) {}

  /** @throws NoSession */
  async get(wanted: WantedSession): Promise<McpSession> {
    this.#endIdle();
    const id = identityOf(wanted);
    const known = this.#entries.get(id);
    if (known !== undefined) {
      const session = await known.opening;
      if (session.usable) {
        known.usedAt = Date.now();
        return session;
      }
      if (this.#entries.get(id) === known) this.#end(id);
      return this.get(wanted);
    }
    if (this.#closed) throw new NoSession('client_closed', true, 'shutting down');
    const entry = { opening: this.#open(wanted), usedAt: Date.now() };
    this.#entries.set(id, entry);
    try {
      return await entry.opening;
    } catch (error) {
      if (this.#entries.get(id) === entry) this.#entries.delete(id);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const id of [...this.#entries.keys()]) this.#end(id);
    await Promise.all(this.#ending);
  }

  async #open(wanted: WantedSession): Promise<McpSession> {
    const { McpSession } = await loadClient();
    return McpSession.open({ ...wanted, pools: this.pools, maxBytes: this.maxBytes });
  }

  #endIdle(): void {
    const before = Date.now() - idleMs;
    for (const [id, { usedAt }] of this.#entries) if (usedAt < before) this.#end(id);
  }

  #end(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    const ended = entry.opening.then(
      (session) => session.retire(),
      () => {},
    );
    this.#ending.add(ended);
    void ended.then(() => this.#ending.delete(ended));
  }
}

function identityOf({ server, credential, cwd }: WantedSession): string {
  return JSON.stringify([server, server.transport === 'stdio' ? cwd : null, credential?.header, credential?.secret]);
}
