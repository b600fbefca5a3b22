import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Child, root, startProgram } from './children.js';

const startMs = 60_000;
const pollMs = 100;

export interface RestateServer {
  readonly child: Child;
  /** Where requests for services arrive. */
  readonly ingressPort: number;
  readonly adminUrl: string;
}

/**
 * Starts a Restate server on an empty data directory below `parent`, which goes with it when it stops. One partition
 * instead of 24: on two cores each further one costs more than it brings.
 */
export async function startRestateServer(parent: string): Promise<RestateServer> {
  const data = path.join(parent, 'restate');
  await rm(data, { recursive: true, force: true });
  const [node = 0, ingress = 0, admin = 0] = await freePorts(3);
  const args = ['--base-dir', data, '--listen-mode', 'tcp', '--bind-ip', '127.0.0.1', '--no-logo'];
  const { child, ended } = startProgram('restate-server', binary(), [...args, '--node-name', 'bench'], {
    RESTATE_BIND_PORT: String(node),
    RESTATE_INGRESS__BIND_PORT: String(ingress),
    RESTATE_ADMIN__BIND_PORT: String(admin),
    RESTATE_ADMIN__DISABLE_WEB_UI: 'true',
    RESTATE_DEFAULT_NUM_PARTITIONS: '1',
    RESTATE_DISABLE_TELEMETRY: 'true',
    // At its start it asks the network for a newer release.
    RESTATE_LOG_FILTER: 'error,octocrab=off',
    RESTATE_LOG_DISABLE_ANSI_CODES: 'true',
  });
  const adminUrl = `http://127.0.0.1:${admin}`;
  const stop = async () => {
    await child.stop();
    await rm(data, { recursive: true, force: true });
  };
  await Promise.race([healthy(`${adminUrl}/health`), ended]);
  return { child: { pid: child.pid, stop }, ingressPort: ingress, adminUrl };
}

/** Makes the handlers of a service known to the server. */
export async function register({ adminUrl }: RestateServer, servicePort: number): Promise<void> {
  await ask(`${adminUrl}/deployments`, { uri: `http://127.0.0.1:${servicePort}` });
}

/** How many calls the server remembers as done with a result. */
export async function succeeded({ adminUrl }: RestateServer): Promise<number> {
  const query = `SELECT count(*) AS count FROM sys_invocation WHERE completion_result = 'success'`;
  const { rows } = (await ask(`${adminUrl}/query`, { query })) as { rows: { count: number }[] };
  return rows[0]?.count ?? Number.NaN;
}

async function ask(url: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`restate-server answered ${response.status}: ${await response.text()}`);
  return response.json();
}

async function healthy(url: string): Promise<void> {
  const deadline = performance.now() + startMs;
  for (;;) {
    const answer = await fetch(url).catch(() => null);
    if (answer?.ok) return;
    if (performance.now() > deadline) throw new Error(`restate-server was not ready after ${startMs / 1000} s`);
    await wait(pollMs);
  }
}

/** Ports of the loopback interface that are free now, all different. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

/** The binary itself: the package's own launcher would be one more process to stop. */
function binary(): string {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`;
  return createRequire(`${root}bench/peers/package.json`).resolve(name);
}
