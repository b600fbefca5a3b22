import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { BusWitness } from './bus-witness.js';
import { dumpDatabase } from './dump-database.js';
import { RigFaultLog, rigTime } from './fault-log.js';
import { freePort } from './free-port.js';
import {
  type Installation,
  type InstallationOptions,
  type ReplicaName,
  type Role,
  roles,
  type StartInstallation,
  type Topology,
} from './installation.js';
import { startNats } from './nats.js';
import { type RigOracle, startOracle } from './oracle.js';
import { startPostgres } from './postgres.js';
import { Replica } from './replica.js';
import { RigProcesses } from './rig-processes.js';
import { LoggedNats, LoggedPostgres } from './rig-servers.js';
import { RigWires, type Targets } from './rig-wires.js';
import { readSent } from './sent-file.js';

const tenant = 'acme';

type RigPostgres = Awaited<ReturnType<typeof startPostgres>>;
type RigNats = Awaited<ReturnType<typeof startNats>>;

interface Servers {
  readonly postgres: RigPostgres;
  readonly nats: RigNats;
  readonly oracle: RigOracle;
}

export const startInstallation: StartInstallation = async (options) => {
  const { machine, topology, dir } = options;
  mkdirSync(path.join(dir, 'logs'), { recursive: true });
  const opened: (() => Promise<unknown>)[] = [];
  const closeAll = async () => {
    for (const close of opened.splice(0).reverse()) await close();
  };
  const open = async <T extends { close(): Promise<unknown> }>(starting: Promise<T>): Promise<T> => {
    const started = await starting;
    opened.push(() => started.close());
    return started;
  };
  try {
    const [postgres, nats, oracle] = await allOrNone([
      open(startPostgres({ machine, dir })),
      open(startNats({ machine, dir, kind: topology.nats, version: topology.natsVersion })),
      open(startOracle(dir)),
    ]);
    return await assemble(options, { postgres, nats, oracle }, open, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
};

async function assemble(
  { topology, dir, toolsDir }: InstallationOptions,
  { postgres, nats, oracle }: Servers,
  open: <T extends { close(): Promise<unknown> }>(starting: Promise<T>) => Promise<T>,
  closeAll: () => Promise<void>,
): Promise<Installation> {
  const faults = new RigFaultLog();
  const names = replicaNames(topology);
  const legs = new Map(names.map((name) => [name, targetsOf(name, { postgres, nats, oracle })]));
  const wires = await open(RigWires.start(legs, faults));
  const witness = await open(BusWitness.start(nats.urls));
  const keys = { service: randomBytes(16).toString('hex'), operator: randomBytes(16).toString('hex') };
  const shared = {
    INTENDANT_TOOLS_DIR: toolsDir,
    INTENDANT_TOKEN_SECRET: randomBytes(32).toString('hex'),
    INTENDANT_APPROVAL_SECRET: randomBytes(32).toString('hex'),
    INTENDANT_SERVICE_KEYS: `rig@${tenant}=${sha256(keys.service)}`,
    INTENDANT_OPERATOR_KEYS: `rig@*:viewer+operator+approver=${sha256(keys.operator)}`,
    INTENDANT_EGRESS_PRIVATE: '127.0.0.0/8',
    INTENDANT_LOG_LEVEL: 'info',
    ...nats.serviceEnvironment,
  };
  const gatewayUrls: string[] = [];
  const replicas: Replica[] = [];
  for (const name of names) {
    const port = await freePort();
    const role = roleOf(name);
    if (role === 'gateway') gatewayUrls.push(`http://127.0.0.1:${port}`);
    const order = nodeOrder(name, nats.urls.length);
    const env = {
      ...shared,
      INTENDANT_HTTP_PORT: String(port),
      INTENDANT_DATABASE_URL: wires.through(name, 'postgres', postgres.appUrl),
      INTENDANT_NATS_URL: order.map((node, at) => wires.through(name, 'nats', nats.urls[node] ?? '', at)).join(','),
      // Policy reads the tool files, and so needs the name too; it never calls.
      UPSTREAM_URL: callsOut(role) ? wires.through(name, 'upstream', oracle.url) : oracle.url,
      RIG_CLOCK_OFFSET_MS: String(topology.clockOffsetsMs[name] ?? 0),
    };
    replicas.push(new Replica({ name, role, env, dir, onStruck: (struck) => processes.noteStrike(struck) }));
  }
  const processes = new RigProcesses(names, replicas, faults);
  await open(Promise.resolve(processes));
  await processes.startAll(topology.faultPoints);
  const mendable = { postgres: new LoggedPostgres(postgres, faults), nats: new LoggedNats(nats, faults) };

  return {
    processes,
    wires,
    ...mendable,
    upstream: oracle,
    gatewayUrls,
    natsUrls: nats.urls,
    databaseUrl: postgres.ownerUrl,
    tenant,
    serviceKey: keys.service,
    operatorKey: keys.operator,
    faults,
    heal: async (leaveStopped = []) => {
      wires.mendAll();
      await Promise.all([mendable.postgres.mend(), mendable.nats.mend()]);
      const serversAt = rigTime();
      await processes.heal(leaveStopped);
      return serversAt;
    },
    collect: async () => {
      const database = await dumpDatabase(postgres.ownerUrl);
      const bus = await witness.dump();
      // Last, so that an effect that comes now is seen, though nobody knew of it when the rest was written down.
      const ledger = await oracle.ledger();
      const sent = await readSent(dir);
      return { ledger, sent, database, bus, processes: processes.entries(), faults: [...faults.entries] };
    },
    close: closeAll,
  };
}

function replicaNames({ replicas }: Topology): ReplicaName[] {
  return roles.flatMap((role) => Array.from({ length: replicas[role] }, (_, at): ReplicaName => `${role}/${at}`));
}

function roleOf(name: ReplicaName): Role {
  return name.slice(0, name.indexOf('/')) as Role;
}

function callsOut(role: Role): boolean {
  return role === 'dispatcher' || role === 'reconciler';
}

function targetsOf(name: ReplicaName, { postgres, nats, oracle }: Servers): Targets {
  return {
    postgres: [postgres.port],
    nats: nodeOrder(name, nats.ports.length).map((node) => nats.ports[node] ?? 0),
    ...(callsOut(roleOf(name)) && { upstream: [oracle.port] }),
  };
}

/** Every replica knows all nodes, each beginning with another one. */
function nodeOrder(name: ReplicaName, nodes: number): number[] {
  const index = Number(name.slice(name.indexOf('/') + 1));
  return Array.from({ length: nodes }, (_, at) => (index + at) % nodes);
}

/** Waits for all, so that what did start is known, and can be closed, when another did not. */
async function allOrNone<T extends readonly Promise<unknown>[]>(
  starting: readonly [...T],
): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(starting);
  return Promise.all(starting) as Promise<{ [K in keyof T]: Awaited<T[K]> }>;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
