import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { applicationRole } from '@intendant/migrations';
import type pg from 'pg';
import type { Machine } from '../machine.js';
import type { BreakablePostgres } from './installation.js';
import { connect, PostgresServer, query } from './postgres-server.js';
import { copyTemplate, database } from './postgres-template.js';

export interface PostgresOptions {
  readonly machine: Machine;
  /** Where the log goes, `postgres.log`; the data is below `machine.postgresHome`. */
  readonly dir: string;
}

/** A PostgreSQL of its own, synced and with a migrated database, that can be broken. */
export interface RigPostgres extends BreakablePostgres {
  /** On 127.0.0.1; the same over restarts. */
  readonly port: number;
  /** May do everything; migrations and the rig connect so. */
  readonly ownerUrl: string;
  /** As services connect. */
  readonly appUrl: string;
  /** Ends it, whatever state it is in, and removes the data. */
  close(): Promise<void>;
}

/** Starts one; resolves when it takes statements. */
export async function startPostgres({ machine, dir }: PostgresOptions): Promise<RigPostgres> {
  mkdirSync(dir, { recursive: true });
  const data = path.join(machine.postgresHome, `data-${randomUUID()}`);
  const password = await copyTemplate(machine, data);
  const server = new PostgresServer(machine, data, password, path.join(dir, 'postgres.log'));
  await server.startSomewhere();
  const ownerUrl = server.url(database);
  const appUrl = server.url(database, applicationRole);
  return {
    port: server.port,
    ownerUrl,
    appUrl,
    crash: () => server.crash(),
    stop: () => server.stop(),
    start: () => server.start(),
    pause: () => server.pause(),
    resume: () => server.resume(),
    readOnly: (on) => setReadOnly(ownerUrl, on),
    terminateBackends: (most) => terminateBackends(ownerUrl, most),
    holdTransaction: () => holdTransaction(ownerUrl),
    exhaust: () => exhaust(ownerUrl),
    close: async () => {
      await server.crash();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** Resolves when new sessions begin so; those that are open follow before their next statement. */
async function setReadOnly(url: string, on: boolean): Promise<void> {
  await query(url, `ALTER SYSTEM SET default_transaction_read_only = ${on ? 'on' : 'off'}`);
  await query(url, 'SELECT pg_reload_conf()');
  for (;;) {
    const [row] = await query<{ setting: string }>(
      url,
      "SELECT current_setting('default_transaction_read_only') AS setting",
    );
    if (row?.setting === (on ? 'on' : 'off')) return;
  }
}

async function terminateBackends(url: string, most: number): Promise<number> {
  const ended = await query(
    url,
    `SELECT pg_terminate_backend(pid) FROM
       (SELECT pid FROM pg_stat_activity WHERE usename = $1 ORDER BY random() LIMIT $2) AS chosen`,
    [applicationRole, most],
  );
  return ended.length;
}

/** As somebody who looked at open work with `FOR UPDATE` and went to lunch: about half of it is locked. */
async function holdTransaction(url: string): Promise<() => Promise<void>> {
  const client = await connect(url, 'somebody');
  await client.query('BEGIN READ WRITE');
  await client.query(
    `SELECT id FROM intents WHERE wake_at IS NOT NULL AND hashtext(id) % 2 = 0 ORDER BY id FOR UPDATE SKIP LOCKED`,
  );
  await client.query('SELECT msg_id FROM outbox WHERE hashtext(msg_id) % 2 = 0 FOR UPDATE SKIP LOCKED');
  return () => end(client);
}

/** For services as if all connections were taken, with the same SQLSTATE, 53300; whoever looks on can still connect. */
async function exhaust(url: string): Promise<() => Promise<void>> {
  const limit = (most: number) => query(url, `ALTER ROLE ${applicationRole} CONNECTION LIMIT ${most}`);
  await limit(0);
  return async () => void (await limit(-1));
}

/** Also when the server, and with it the connection, is gone already. */
async function end(client: pg.Client): Promise<void> {
  await client.end().catch(() => undefined);
}
