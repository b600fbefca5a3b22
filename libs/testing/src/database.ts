import { createHash, randomBytes } from 'node:crypto';
import { applicationRole, migrate, migrations } from '@intendant/migrations';
import pg from 'pg';

/** Password of the application role in tests; the server listens on loopback only and is thrown away. */
const password = 'application';

export interface TestDatabase {
  /** As the application role, as services connect. */
  readonly url: string;
  /** As the owner; may do everything. */
  readonly ownerUrl: string;
  query<T extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<T[]>;
  /** A connection of its own, as the owner, for a test that holds locks; end it with `onTestFinished`. */
  session(): Promise<pg.Client>;
  drop(): Promise<void>;
}

function serverUrl(): string {
  const url = process.env.INTENDANT_TEST_DATABASE_URL;
  if (!url) throw new Error('INTENDANT_TEST_DATABASE_URL is not set: run the tests with `npm test`');
  return url;
}

function urlOf(database: string, user?: string): string {
  const url = new URL(serverUrl());
  url.pathname = `/${database}`;
  if (user) {
    url.username = user;
    url.password = password;
  }
  return url.href;
}

async function asOwner<T>(database: string, run: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: urlOf(database) });
  await client.connect();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
}

/** A migrated database of its own, cloned from a template that the first caller makes. */
export async function createDatabase(): Promise<TestDatabase> {
  // By content, so that a migration under work never meets the template of an earlier draft.
  const digest = createHash('sha256').update(migrations.join()).digest('hex').slice(0, 12);
  const template = `template_${digest}`;
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asOwner('postgres', async (client) => {
    // One at a time: a template that somebody is connected to cannot be cloned.
    await client.query("SELECT pg_advisory_lock(hashtext('intendant_template'))");
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [template]);
    if (rowCount === 0) {
      await client.query(`DROP DATABASE IF EXISTS ${template}_making`);
      await client.query(`CREATE DATABASE ${template}_making`);
      await migrate(urlOf(`${template}_making`), { name: applicationRole, password });
      await client.query(`ALTER DATABASE ${template}_making RENAME TO ${template}`);
    }
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  });
  const owner = new pg.Pool({ connectionString: urlOf(name), max: 2 });
  owner.on('error', () => undefined);
  return {
    url: urlOf(name, applicationRole),
    ownerUrl: urlOf(name),
    query: async (text, values) => (await owner.query(text, values)).rows,
    session: async () => {
      const client = new pg.Client({ connectionString: urlOf(name) });
      await client.connect();
      return client;
    },
    drop: async () => {
      await owner.end();
      await asOwner('postgres', (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`));
    },
  };
}
