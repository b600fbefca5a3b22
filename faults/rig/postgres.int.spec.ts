import { statSync } from 'node:fs';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { dumpDatabase } from './dump-database.js';
import { machineForSpecs } from './machine.spec-helper.js';
import { type RigPostgres, startPostgres } from './postgres.js';

const machine = machineForSpecs();
let postgres: RigPostgres;
let clients: pg.Client[];

beforeAll(async () => {
  postgres = await startPostgres({ machine, dir: `${machine.stateDir}/case` });
});
afterAll(async () => {
  await postgres.close();
  machine.remove();
});
beforeEach(() => {
  clients = [];
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
});

/** A session as a service has one; `lost` resolves when the server ends it. */
async function service(name = 'dispatcher') {
  const client = new pg.Client({ connectionString: postgres.appUrl, application_name: name });
  const lost = new Promise<string>((resolve) => {
    client.on('error', (error: Error & { code?: string }) => resolve(error.code ?? error.message));
  });
  await client.connect();
  clients.push(client);
  return { client, lost };
}

const insert = (id: string) => `INSERT INTO outbox (msg_id, subject, payload) VALUES ('${id}', 's', '{}')`;

async function outbox(): Promise<string[]> {
  const { client } = await service();
  return (await client.query('SELECT msg_id FROM outbox ORDER BY 1')).rows.map(({ msg_id }) => msg_id);
}

describe('the PostgreSQL of the rig', () => {
  it('has a migrated database, syncs, and says when a transaction was committed', async () => {
    const { client } = await service();
    await client.query(insert('first'));
    const { rows } = await client.query(
      `SELECT pg_xact_commit_timestamp(xmin) > now() - interval '1 minute' AS recent,
        current_setting('fsync') AS fsync FROM outbox`,
    );
    expect(rows).toEqual([{ recent: true, fsync: 'on' }]);
    await client.query("DELETE FROM outbox WHERE msg_id = 'first'");
  });

  it('keeps after a crash what was committed, and only that, at the same port', async () => {
    const [one, other] = [await service(), await service()];
    await one.client.query(insert('kept'));
    await other.client.query('BEGIN');
    await other.client.query(insert('lost'));
    await postgres.crash();
    await Promise.all([one.lost, other.lost]);
    await expect(service()).rejects.toThrow('ECONNREFUSED');
    await postgres.start();
    expect(await outbox()).toEqual(['kept']);
  });

  it('ends sessions in order when it is stopped, and may be started twice', async () => {
    const { lost } = await service();
    await postgres.stop();
    expect(await lost).toBe('57P01');
    await postgres.start();
    await postgres.start();
    expect(await outbox()).toEqual(['kept']);
  });

  it('answers nobody while it is paused, and goes on where it was', async () => {
    const { client } = await service();
    await client.query('SELECT');
    postgres.pause();
    let answered = false;
    const asked = client.query('SELECT 1 AS n').then(({ rows }) => {
      answered = true;
      return rows;
    });
    // A new connection is taken by the kernel and greeted by nobody: its own limit ends it.
    const late = new pg.Client({ connectionString: postgres.appUrl, connectionTimeoutMillis: 200 });
    await expect(late.connect()).rejects.toThrow('timeout');
    expect(answered).toBe(false);
    postgres.resume();
    expect(await asked).toEqual([{ n: 1 }]);
  });

  it('can be crashed while it is paused', async () => {
    postgres.pause();
    await postgres.crash();
    await postgres.start();
    expect(await outbox()).toEqual(['kept']);
  });

  it('refuses writes of new and of running sessions while it is read-only, and ends none', async () => {
    const { client } = await service();
    await postgres.readOnly(true);
    await expect(client.query(insert('refused'))).rejects.toMatchObject({ code: '25006' });
    await expect((await service()).client.query(insert('refused'))).rejects.toMatchObject({ code: '25006' });
    expect(await outbox()).toEqual(['kept']);
    await postgres.readOnly(false);
    await client.query(insert('written'));
    expect(await outbox()).toEqual(['kept', 'written']);
  });

  it('stays read-only over a crash until it is healed', async () => {
    await postgres.readOnly(true);
    await postgres.crash();
    await postgres.start();
    await expect((await service()).client.query(insert('refused'))).rejects.toMatchObject({ code: '25006' });
    await postgres.readOnly(false);
    await (await service()).client.query("DELETE FROM outbox WHERE msg_id = 'written'");
  });

  it('terminates as many backends of services as it is told, and none of others', async () => {
    const owner = new pg.Client({ connectionString: postgres.ownerUrl });
    await owner.connect();
    clients.push(owner);
    const sessions = [await service(), await service('reconciler')];
    expect(await postgres.terminateBackends(1)).toBe(1);
    expect(await Promise.race(sessions.map(({ lost }) => lost))).toBe('57P01');
    expect(await postgres.terminateBackends(10)).toBe(1);
    await Promise.all(sessions.map(({ lost }) => lost));
    expect((await owner.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);
    expect(await postgres.terminateBackends(10)).toBe(0);
  });

  it('takes a transaction for left over when it has been open for a while, not when a service is about to end it', async () => {
    const { client } = await service('outbox-relay');
    const open = async () => {
      const { sessions } = await dumpDatabase(postgres.ownerUrl);
      return sessions.find(({ application }) => application === 'outbox-relay')?.inTransaction;
    };
    await client.query('BEGIN');
    expect(await open()).toBe(0);
    await vi.waitFor(async () => expect(await open()).toBe(1), { timeout: 10_000, interval: 100 });
    await client.query('COMMIT');
    expect(await open()).toBe(0);
  });

  it('locks a part of what services write while a transaction is held', async () => {
    const ids = Array.from({ length: 20 }, (_, i) => `held-${i}`);
    const { client } = await service();
    for (const id of ids) await client.query(insert(id));
    const free = async () =>
      (await client.query("SELECT msg_id FROM outbox WHERE msg_id LIKE 'held%' FOR UPDATE SKIP LOCKED")).rowCount ?? 0;
    const release = await postgres.holdTransaction();
    const during = await free();
    expect(during).toBeGreaterThan(0);
    expect(during).toBeLessThan(20);
    await release();
    expect(await free()).toBe(20);
    await client.query("DELETE FROM outbox WHERE msg_id LIKE 'held%'");
  });

  it('can be released from a held transaction after it was crashed', async () => {
    const release = await postgres.holdTransaction();
    await postgres.crash();
    await postgres.start();
    await release();
  });

  it('has no connection left for services while it is exhausted, those that are open stay', async () => {
    const { client } = await service();
    const release = await postgres.exhaust();
    await expect(service()).rejects.toMatchObject({ code: '53300' });
    expect((await client.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);
    expect(await postgres.terminateBackends(0)).toBe(0);
    await release();
    await (await service()).client.query('SELECT');
  });

  it('starts others from a copy, at ports of their own, and leaves nothing of them', async () => {
    const other = await startPostgres({ machine, dir: `${machine.stateDir}/other` });
    expect(other.port).not.toBe(postgres.port);
    expect(statSync(`${machine.stateDir}/other/postgres.log`).size).toBeGreaterThan(0);
    other.pause();
    await other.close();
    await expect(new pg.Client({ connectionString: other.appUrl }).connect()).rejects.toThrow('ECONNREFUSED');
  });
});
