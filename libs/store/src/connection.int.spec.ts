import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { inspect } from 'node:util';
import { createDatabase, type TestDatabase } from '@intendant/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { StoreUnusable } from './errors.js';
import { Store } from './store.js';

const secret = 'quite-a-secret';
let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** The database's address with something changed. */
function address(change: (url: URL) => void): string {
  const url = new URL(database.url);
  change(url);
  return url.href;
}

/** What `open` says; fails when it opens. */
async function refusal(url: string): Promise<Error> {
  const outcome = await Store.open({ url, name: 'connection-spec' }).then(
    (store) => store.close().then(() => null),
    (error: Error) => error,
  );
  expect(outcome).toBeInstanceOf(StoreUnusable);
  return outcome as Error;
}

async function closedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return String(port);
}

describe('a database that cannot be used is refused in plain words', () => {
  test('nobody listens', async () => {
    const port = await closedPort();
    const { message } = await refusal(
      address((url) => {
        url.port = port;
      }),
    );
    expect(message).toMatch(new RegExp(`no database answers at 127\\.0\\.0\\.1:${port}/test_.*ECONNREFUSED`));
    expect(message).toContain('INTENDANT_DATABASE_URL');
  });

  test('the password is wrong', async () => {
    const { message } = await refusal(
      address((url) => {
        url.password = secret;
      }),
    );
    expect(message).toMatch(/refused the user or the password\. Check INTENDANT_DATABASE_URL/);
  });

  test('there is no such database', async () => {
    const { message } = await refusal(
      address((url) => {
        url.pathname = '/nowhere';
      }),
    );
    expect(message).toMatch(/127\.0\.0\.1:\d+\/nowhere has no such database/);
  });

  test('the host does not exist, or the address is not one', async () => {
    const { message } = await refusal(
      address((url) => {
        url.hostname = 'no-such-host.invalid';
      }),
    );
    expect(message).toMatch(/no-such-host\.invalid/);
    expect((await refusal(`//user:${secret}@`)).message).toMatch(/postgres:\/\/user:password@host:5432/);
  });

  test('and the password is in none of it', async () => {
    const port = await closedPort();
    const wrong = [
      address((url) => {
        url.password = secret;
      }),
      address((url) => {
        url.password = secret;
        url.port = port;
      }),
      `postgres://user:${secret}@[not-a-host/db`,
      `//user:${secret}@`,
    ];
    for (const url of wrong) expect(inspect(await refusal(url), { depth: 10, showHidden: true })).not.toContain(secret);
  });
});

describe('a schema that this code must not write to is refused', () => {
  test('it is newer', async () => {
    await database.query(
      `INSERT INTO migrations ("timestamp", name) VALUES (9999999999999, 'TimeTravel9999999999999')`,
    );
    const { message } = await refusal(database.url);
    expect(message).toMatch(/newer than this code: it has TimeTravel9999999999999\. Start the version that made it/);
    await database.query("DELETE FROM migrations WHERE name LIKE 'TimeTravel%'");
    const store = await Store.open({ url: database.url, name: 'connection-spec' });
    await store.ping();
    await store.close();
  });

  test('it lacks a migration', async () => {
    await database.query('CREATE TABLE kept AS SELECT * FROM migrations');
    await database.query('DELETE FROM migrations');
    const { message } = await refusal(database.url);
    expect(message).toMatch(/lacks EventLog\d+, .+\. Run the migrations/);
    await database.query('INSERT INTO migrations SELECT * FROM kept');
  });

  test('it was never made', async () => {
    await database.query('ALTER TABLE migrations RENAME TO elsewhere');
    expect((await refusal(database.url)).message).toMatch(/lacks EventLog\d+, .+\. Run the migrations/);
    await database.query('ALTER TABLE elsewhere RENAME TO migrations');
  });

  test('its account could change the event log', async () => {
    const { message } = await refusal(database.ownerUrl);
    expect(message).toMatch(/the account \w+ may change the event log.*application role/);
  });

  test('and no connection is left behind', async () => {
    // A backend goes a moment after its client.
    await vi.waitFor(async () => {
      const open = await database.query("SELECT FROM pg_stat_activity WHERE application_name = 'connection-spec'");
      expect(open).toEqual([]);
    });
  });
});
