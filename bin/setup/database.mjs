// `pg` is there once the dependencies are installed, and this module is loaded before that.
const loadPg = async () => (await import('pg')).default;

/** Whether a session can be opened: the only readiness that means anything for a database. */
export async function canConnect(url) {
  try {
    await withClient(url, (client) => client.query('SELECT 1'));
    return true;
  } catch {
    return false;
  }
}

/** Makes sure the database exists and returns its URL with the same account. `fresh` drops an old one first. */
export async function ensureDatabase(serverUrl, name, { fresh = false } = {}) {
  await withClient(serverUrl, async (client) => {
    if (fresh) await client.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await client.query(`CREATE DATABASE "${name}"`);
  });
  return withParts(serverUrl, { pathname: `/${name}` });
}

/** The same server and database for another account. */
export function asAccount(url, username, password) {
  return withParts(url, { username, password });
}

function withParts(url, parts) {
  return Object.assign(new URL(url), parts).href;
}

async function withClient(url, work) {
  const { Client } = await loadPg();
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000, ssl: false });
  // A server that is still starting drops connections: the error of the query is enough.
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}
