import { randomBytes } from 'node:crypto';
import { subjects } from '@intendant/contracts';
import { RunTokens } from '@intendant/credentials';
import { Store } from '@intendant/store';
import { ulid } from 'ulid';
import { checkIntents } from './check-intents.js';
import { type Child, forkPart, root, startService } from './children.js';
import { BenchDatabase } from './database.js';
import type { Installation } from './installation.js';
import type { FromServer } from './ipc.js';
import type { Target } from './load-job.js';

export const systemNames = ['afternoon', 'standalone', 'services'] as const;
export type SystemName = (typeof systemNames)[number];

/** A system under test, ready to be asked. */
export interface RunningSystem {
  readonly target: Target;
  /** Null for a system that does not keep its state in PostgreSQL. */
  readonly database: BenchDatabase | null;
  /** Its own processes by name; PostgreSQL and NATS not among them. */
  readonly processes: ReadonlyMap<string, Child>;
  readonly usesNats: boolean;
  /** Throws unless exactly so many intents are there, each with its outcome. */
  check(intents: number): Promise<void>;
}

export interface SystemOnPostgres extends RunningSystem {
  readonly database: BenchDatabase;
}

const apps: Record<Exclude<SystemName, 'afternoon'>, readonly string[]> = {
  standalone: ['standalone'],
  services: ['gateway', 'policy', 'outbox-relay', 'dispatcher', 'reconciler'],
};
/** Agents that submit in turn. */
const runs = 8;
const runLifeMs = 3_600_000;

/** Starts a system on a fresh database. */
export async function startSystem(
  name: SystemName,
  installation: Installation,
  upstreamUrl: string,
  profile: string | null,
): Promise<SystemOnPostgres> {
  if (name === 'afternoon') return startAfternoon(installation, upstreamUrl);
  const database = await BenchDatabase.create(installation, { migrated: true });
  const tokenSecret = randomBytes(32).toString('base64url');
  const env = {
    INTENDANT_DATABASE_URL: database.url,
    INTENDANT_NATS_URL: installation.natsUrl,
    INTENDANT_TOOLS_DIR: `${root}bench/tools`,
    INTENDANT_TOKEN_SECRET: tokenSecret,
    INTENDANT_APPROVAL_SECRET: tokenSecret,
    INTENDANT_HTTP_PORT: '0',
    INTENDANT_EGRESS_PRIVATE: '127.0.0.0/8',
    BENCH_UPSTREAM_URL: upstreamUrl,
  };
  const nodeArgs = profile === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const started = apps[name].map(async (app) => [app, await startService(app, env, nodeArgs)] as const);
  const processes = new Map(await Promise.all(started));
  const target: Target = {
    protocol: 'nats',
    url: installation.natsUrl,
    subject: subjects.rpcSubmit,
    tokens: await openRuns(database.url, tokenSecret),
  };
  return { target, database, processes, usesNats: true, check: (intents) => checkIntents(database, intents) };
}

async function startAfternoon(installation: Installation, upstreamUrl: string): Promise<SystemOnPostgres> {
  const database = await BenchDatabase.create(installation, { migrated: false });
  const server = await forkPart<never, FromServer>('afternoon', [database.ownerUrl, upstreamUrl]);
  const check = async (intents: number) => {
    const [row] = await database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM calls WHERE status = 'committed'`,
    );
    if (row?.count !== intents) throw new Error(`${row?.count} calls are settled, not ${intents}`);
  };
  const target: Target = { protocol: 'http', port: server.ready.port, path: '/intents' };
  return { target, database, processes: new Map([['server', server]]), usesNats: false, check };
}

/** The trusted side opens runs over HTTP; here they are put where that puts them. */
async function openRuns(databaseUrl: string, tokenSecret: string): Promise<string[]> {
  const store = await Store.open({ url: databaseUrl, name: 'bench' });
  const tokens = new RunTokens(tokenSecret);
  const issued: string[] = [];
  for (let i = 0; i < runs; i += 1) {
    const identity = { tenant: 'bench', user: `user${i}`, profile: 'batch', permissions: ['*'], phase: null } as const;
    const run = await store.runs.open({ ...identity, id: `run_${ulid()}`, openedBy: 'bench' }, runLifeMs);
    issued.push(await tokens.issue({ ...run, runId: run.id }));
  }
  await store.close();
  return issued;
}
