import { forkFile, root } from './children.js';
import { BenchDatabase } from './database.js';
import type { Installation } from './installation.js';
import type { FromServer } from './ipc.js';
import { register, startRestateServer, succeeded } from './restate-server.js';
import type { RunningSystem } from './systems.js';

/** Durable systems that do the same work; all others are yardsticks of another kind. */
export const peerNames = ['dbos', 'graphile-worker', 'pg-boss', 'restate'] as const;
export type PeerName = (typeof peerNames)[number];

export function isPeer(name: string): name is PeerName {
  return peerNames.some((peer) => peer === name);
}

/** Requests in flight at which a peer answers most per second, of those tried; see `docs/performance.md`. */
export const bestInFlight: Readonly<Record<PeerName, number>> = {
  dbos: 128,
  'graphile-worker': 64,
  'pg-boss': 128,
  restate: 256,
};

/** Counts the intents whose result a peer has recorded in PostgreSQL. */
const recorded: Readonly<Record<Exclude<PeerName, 'restate'>, string>> = {
  dbos: `SELECT count(*)::int AS count FROM dbos.workflow_status WHERE status = 'SUCCESS'`,
  'graphile-worker': 'SELECT count(*)::int AS count FROM results',
  'pg-boss': 'SELECT count(*)::int AS count FROM results',
};

/** Starts a peer on a fresh database, or Restate, which keeps its own, on a fresh data directory. */
export function startPeer(name: PeerName, installation: Installation, upstreamUrl: string): Promise<RunningSystem> {
  return name === 'restate'
    ? startRestate(installation, upstreamUrl)
    : startOnPostgres(name, installation, upstreamUrl);
}

async function startOnPostgres(
  name: Exclude<PeerName, 'restate'>,
  installation: Installation,
  upstreamUrl: string,
): Promise<RunningSystem> {
  const database = await BenchDatabase.create(installation, { migrated: false });
  const server = await forkFile<never, FromServer>(name, fileOf(name), [database.ownerUrl, upstreamUrl]);
  const check = async (intents: number) => {
    const [row] = await database.query<{ count: number }>(recorded[name]);
    expectCount(name, intents, row?.count);
  };
  const processes = new Map([['server', server]]);
  return { target: at(server.ready.port, '/intents'), database, processes, usesNats: false, check };
}

async function startRestate({ stateDir }: Installation, upstreamUrl: string): Promise<RunningSystem> {
  const server = await startRestateServer(stateDir);
  const service = await forkFile<never, FromServer>('restate', fileOf('restate'), ['', upstreamUrl]);
  await register(server, service.ready.port);
  const check = async (intents: number) => expectCount('restate', intents, await succeeded(server));
  const processes = new Map([
    ['restate-server', server.child],
    ['service', service],
  ]);
  return { target: at(server.ingressPort, '/intents/submit'), database: null, processes, usesNats: false, check };
}

function at(port: number, path: string) {
  return { protocol: 'http', port, path } as const;
}

function fileOf(name: PeerName): string {
  return `${root}bench/peers/${name}.mjs`;
}

function expectCount(name: PeerName, expected: number, found: number | undefined): void {
  if (found !== expected) throw new Error(`${name} has recorded ${found} results, not ${expected}`);
}
