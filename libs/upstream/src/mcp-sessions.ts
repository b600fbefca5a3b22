import { setImmediate as turn } from 'node:timers/promises';
import type { McpUpstream } from '@intendant/contracts';
import { monotonic } from '@intendant/runtime';
import type { Credential } from './credential.js';
import { NoSession } from './mcp-exchange.js';
import type { McpSession } from './mcp-session.js';
import type { Pools } from './pools.js';

export interface SessionLimits {
  /** A session that nobody has used this long is ended, in ms: credentials change, and servers keep state for each. */
  readonly idleMs: number;
  /**
   * Tokens that belong to runs come and go, and each makes a session of its own: on stdio a process. Beyond so many, the
   * idle one that was used longest ago ends.
   */
  readonly most: number;
}

const usual: SessionLimits = { idleMs: 5 * 60_000, most: 64 };

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
  session: McpSession | null;
  usedAt: number;
}

/** One session per server and credential, made when it is wanted and made again when it is gone. */
export class McpSessions {
  readonly #entries = new Map<string, Entry>();
  readonly #ending = new Set<Promise<void>>();
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(
    private readonly pools: Pools,
    private readonly maxBytes: number,
    private readonly limits = usual,
  ) {}

  /** @throws NoSession */
  async get(wanted: WantedSession): Promise<McpSession> {
    const id = identityOf(wanted);
    const known = this.#entries.get(id);
    if (known !== undefined) {
      this.#use(id, known);
      const session = await known.opening;
      if (session.usable) return session;
      if (this.#entries.get(id) === known) this.#end(id);
      return this.get(wanted);
    }
    if (this.#closed) throw new NoSession('client_closed', true, 'shutting down');
    const entry: Entry = { opening: this.#open(wanted), session: null, usedAt: 0 };
    this.#use(id, entry);
    this.#endSurplus();
    try {
      entry.session = await entry.opening;
      return entry.session;
    } catch (error) {
      if (this.#entries.get(id) === entry) this.#entries.delete(id);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    for (const id of [...this.#entries.keys()]) this.#end(id);
    await Promise.all(this.#ending);
  }

  async #open(wanted: WantedSession): Promise<McpSession> {
    const { McpSession } = await loadClient();
    return McpSession.open({ ...wanted, pools: this.pools, maxBytes: this.maxBytes });
  }

  /** As the one used last; a map keeps the order in which its keys came. */
  #use(id: string, entry: Entry): void {
    entry.usedAt = monotonic();
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    this.#idle ??= this.#endIdleIn(this.limits.idleMs);
  }

  /** Those in use stay: there are no more of them than calls at once. */
  #endSurplus(): void {
    let surplus = this.#entries.size - this.limits.most;
    for (const [id, { session }] of this.#entries) {
      if (surplus <= 0) return;
      if (session === null || session.busy) continue;
      this.#end(id);
      surplus -= 1;
    }
  }

  #endIdleIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      const { idleMs } = this.limits;
      const now = monotonic();
      for (const [id, { usedAt }] of this.#entries) if (now - usedAt >= idleMs) this.#end(id);
      const [oldest] = this.#entries.values();
      this.#idle = oldest && this.#endIdleIn(oldest.usedAt + idleMs - now);
    }, ms).unref();
  }

  #end(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    const ended = entry.opening.then(
      async (session) => {
        // Whoever has just been given it is about to use it.
        await turn();
        await session.retire();
      },
      () => {},
    );
    this.#ending.add(ended);
    void ended.then(() => this.#ending.delete(ended));
  }
}

function identityOf({ server, credential, cwd }: WantedSession): string {
  return JSON.stringify([server, server.transport === 'stdio' ? cwd : null, credential?.header, credential?.secret]);
}
