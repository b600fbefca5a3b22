import { createDatabase, startTcpProxy, type TcpProxy, type TestDatabase } from '@intendant/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TimedPool } from './timed-pool.js';

let database: TestDatabase;
let proxy: TcpProxy;
let pool: TimedPool;

const limitMs = 300;

beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(async () => {
  proxy = await startTcpProxy(Number(new URL(database.url).port));
  // One connection: what keeps it keeps everybody.
  const options = { connectionString: proxy.through(database.url), max: 1, connectionTimeoutMillis: 500 };
  pool = new TimedPool({ ...options, application_name: 'timed-spec' }, limitMs);
  pool.on('error', () => undefined);
});
afterEach(async () => {
  proxy.heal();
  await pool.end();
  await proxy.close();
});
afterAll(() => database.drop());

const pid = async () => {
  const { rows } = await pool.query<{ pid: number }>({ text: 'SELECT pg_backend_pid() AS pid' });
  return rows[0]?.pid;
};

test('queries that succeed share their connection, with parameters and prepared', async () => {
  const ask = { name: 'a_sum', text: 'SELECT $1::int + $2::int AS sum' };
  const before = await pid();
  const answers = await Promise.all([1, 2, 3].map((i) => pool.query({ ...ask, values: [i, i] })));
  expect(answers.map(({ rows }) => rows)).toEqual([[{ sum: 2 }], [{ sum: 4 }], [{ sum: 6 }]]);
  expect(await pid()).toBe(before);
});

describe('a connection that stays silent', () => {
  test('is given up after the limit, and the next query works', async () => {
    const before = await pid();
    const asked = performance.now();
    proxy.swallow('both');
    await expect(pid()).rejects.toThrow(`no answer within ${limitMs} ms`);
    expect(performance.now() - asked).toBeGreaterThanOrEqual(limitMs - 1);
    proxy.heal();
    expect(await pid()).not.toBe(before);
  });

  test('fails every query that waits for it, and keeps none of the places of the pool', async () => {
    await pid();
    proxy.swallow('both');
    const failed = await Promise.allSettled([pid(), pid(), pid()]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    proxy.heal();
    expect(await Promise.all([pid(), pid(), pid()])).toHaveLength(3);
    expect(pool.totalCount).toBe(1);
  });
});

test('a connection that is reset fails its query at once, and the next one works', async () => {
  const before = await pid();
  const cut = proxy.cutOnce({ after: 'the last words', direction: 'to_client', bytes: 0 });
  const failing = pool.query({ text: "SELECT 'the last words'" });
  await expect(failing).rejects.toThrow(/terminated|ECONNRESET/);
  await cut;
  expect(await pid()).not.toBe(before);
});

test('a connection whose query failed is replaced', async () => {
  const before = await pid();
  await expect(pool.query({ text: 'SELECT 1 / 0' })).rejects.toMatchObject({ code: '22012' });
  expect(await pid()).not.toBe(before);
  expect(pool.totalCount).toBe(1);
});

test('a database that takes no connections is told, and asked again by the next query', async () => {
  proxy.partition();
  await expect(pid()).rejects.toThrow();
  proxy.heal();
  expect(await pid()).toBeGreaterThan(0);
});

test('a connection that dies while it is handed on to the next query harms that query at most', async () => {
  for (let round = 0; round < 30; round += 1) {
    const killed = pool.query({ text: 'SELECT pg_terminate_backend(pg_backend_pid())' });
    const next = pid().catch(() => undefined);
    await expect(killed).rejects.toThrow();
    await next;
  }
  expect(await pid()).toBeGreaterThan(0);
});

test('a connection that somebody took, and that dies before anything is asked, does not end the process', async () => {
  const client = await pool.connect();
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const gone = new Promise((resolve) => client.once('end', resolve));
  await database.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
  await gone;
  client.release(true);
  expect(await pid()).toBeGreaterThan(0);
});
