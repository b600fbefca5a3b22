import { setMaxListeners } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { History, HistoryMeta } from '../history/history.js';
import type { Machine } from '../machine.js';
import { rigTime } from '../rig/fault-log.js';
import type { Installation, Topology } from '../rig/installation.js';
import { root } from '../rig/root.js';
import { startInstallation } from '../rig/start-installation.js';
import { promisesOf } from '../rig/tool-promises.js';
import { boundMs } from '../rounds/bound.js';
import { Channel } from '../rounds/channel.js';
import { ClientLog } from '../rounds/client-log.js';
import { World } from '../rounds/world.js';
import { Clients } from './clients.js';
import { Intents } from './intents.js';

const toolsDir = path.join(root, 'faults', 'tools');

/** Two of each service at least, and agents: what all cells are tried on, one after the other. */
export class Bench {
  readonly startedAt = rigTime();

  private constructor(
    readonly dir: string,
    readonly installation: Installation,
    readonly channel: Channel,
    readonly clients: Clients,
    readonly world: World,
    readonly intents: Intents,
    readonly tools: HistoryMeta['tools'],
    private readonly log: ClientLog,
    private readonly ending: AbortController,
  ) {}

  static async start(machine: Machine): Promise<Bench> {
    const dir = mkdtempSync(path.join(machine.stateDir, 'points-'));
    const replicas = { gateway: 2, policy: 2, 'outbox-relay': 2, dispatcher: 3, reconciler: 2 };
    const topology: Topology = {
      ...{ replicas, clockOffsetsMs: {}, faultPoints: {} },
      ...{ nats: 'single', natsVersion: 'current' },
    };
    const [tools, installation] = await Promise.all([
      promisesOf(toolsDir),
      startInstallation({ machine, topology, dir, toolsDir }),
    ]);
    const ending = new AbortController();
    // Every agent that asks again waits for it.
    setMaxListeners(0, ending.signal);
    try {
      const channel = await Channel.open(installation.gatewayUrls, installation.natsUrls);
      const log = new ClientLog();
      const clients = await Clients.open(installation, channel, log, ending.signal);
      const { databaseUrl } = installation;
      const world = new World(databaseUrl);
      return new Bench(dir, installation, channel, clients, world, new Intents(databaseUrl), tools, log, ending);
    } catch (error) {
      await installation.close();
      throw error;
    }
  }

  /** Longer than every lease, in ms. */
  get pauseMs(): number {
    return Math.max(...Object.values(this.tools).map(({ leaseMs }) => leaseMs)) + 1_500;
  }

  /** Everything so far, as of one that was over at `healedAt`. */
  async history(name: string, seed: number, startedAt: number, healedAt: number): Promise<History> {
    const collected = await this.installation.collect();
    const faults = collected.faults.filter(({ at }) => at >= startedAt);
    return {
      meta: {
        ...{ name, seed, startedAt, healedAt, frozenAt: rigTime(), boundMs: boundMs(this.tools, null) },
        tools: this.tools,
        permanent: [],
        excuses: { streamsLost: false, beyondLimits: [], silentTools: [] },
      },
      clients: [...this.log.entries].sort((a, b) => a.at - b.at),
      ...collected,
      faults,
    };
  }

  /** `keep`: the logs of the services are wanted. */
  async close(keep: boolean): Promise<void> {
    this.ending.abort();
    await this.channel.close().catch(() => undefined);
    await this.intents.close();
    await this.installation.close();
    if (!keep) await rm(this.dir, { recursive: true, force: true });
  }
}
