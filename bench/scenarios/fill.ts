import { statfs } from 'node:fs/promises';
import type { BenchDatabase } from '../database.js';

const perChunk = 20_000;
const perRun = 20;
/** Over how many past months the intents are spread. */
const months = 6;
/** Disk that one intent needs, its events and indexes and the WAL that is kept meanwhile included, in bytes. */
const bytesPerIntent = 4_000;
const spareBytes = 4 * 1024 ** 3;

/** One session of the database, as its owner. */
export type FillSession = Pick<BenchDatabase, 'query' | 'prepare'>;

export interface Filled {
  readonly intents: number;
  readonly seconds: number;
  readonly gigabytes: number;
}

/**
 * Fills a database with `count` committed intents as if they had been submitted over the past months: copies of intents
 * that the services really recorded there before, under ids, keys, runs and times of their own, with all their events
 * in one partition a month. The copies fold and verify like any other.
 *
 * @throws when the disk is too small for them
 */
export async function fill(database: FillSession, count: number, say: (line: string) => void): Promise<Filled> {
  await checkDisk(database, count);
  const from = performance.now();
  await makePartitions(database);
  await rememberTemplates(database);
  // Built once at the end, they cost a tenth of what a random place for each row would.
  await database.query('ALTER TABLE intents DROP CONSTRAINT one_intent_per_key');
  await database.query('DROP INDEX intents_of_run');
  await database.query('SET synchronous_commit = off');
  for (let done = 0; done < count; done += perChunk) {
    await addChunk(database, done, Math.min(perChunk, count - done), count);
    if (Math.floor((done + perChunk) / (count / 10)) > Math.floor(done / (count / 10)))
      say(`${Math.min(done + perChunk, count)} of ${count} intents after ${elapsed(from).toFixed(0)} s`);
  }
  await database.query('SET synchronous_commit = on');
  await database.query("SET maintenance_work_mem = '512MB'");
  await database.query('ALTER TABLE intents ADD CONSTRAINT one_intent_per_key UNIQUE (key)');
  await database.query('CREATE INDEX intents_of_run ON intents (run_id, id)');
  await database.prepare();
  const [size] = await database.query<{ bytes: number }>(
    'SELECT pg_database_size(current_database())::float8 AS bytes',
  );
  return { intents: count, seconds: elapsed(from), gigabytes: (size?.bytes ?? Number.NaN) / 1024 ** 3 };
}

async function checkDisk(database: FillSession, count: number): Promise<void> {
  const [row] = await database.query<{ folder: string }>("SELECT current_setting('data_directory') AS folder");
  const { bavail, bsize } = await statfs(row?.folder ?? '/');
  const [free, needed] = [bavail * bsize, count * bytesPerIntent + spareBytes];
  if (free >= needed) return;
  const gigabytes = (bytes: number) => (bytes / 1024 ** 3).toFixed(1);
  throw new Error(
    `${count} intents need about ${gigabytes(needed)} GiB in ${row?.folder}, where ${gigabytes(free)} GiB are free: make room or fill less with --fill N`,
  );
}

/** The services make the partitions of the coming months only. */
async function makePartitions(database: FillSession): Promise<void> {
  await database.query(`
    DO $$
    DECLARE
      month timestamptz;
    BEGIN
      FOR i IN 1..${months} LOOP
        month := date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - make_interval(months => i);
        EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF events FOR VALUES FROM (%L) TO (%L)',
          'events_' || to_char(month AT TIME ZONE 'UTC', 'YYYY_MM'),
          intent_id_at(month), intent_id_at(month + interval '1 month'));
      END LOOP;
    END $$`);
}

async function rememberTemplates(database: FillSession): Promise<void> {
  await database.query(`
    CREATE TEMPORARY TABLE templates AS
    SELECT row_number() OVER (ORDER BY id) - 1 AS place, i.*
    FROM intents AS i WHERE state = 'committed' ORDER BY id DESC LIMIT 50`);
  const [row] = await database.query<{ count: number }>('SELECT count(*)::int AS count FROM templates');
  if (row?.count !== 50) throw new Error(`50 committed intents are needed as templates, found ${row?.count}`);
  await database.query(`
    CREATE TEMPORARY TABLE template_events AS
    SELECT t.place - (SELECT min(place) FROM templates) AS place, t.id, t.key, t.run_id, t.step_id,
      e.version, e.type, e.data::text AS data, e.command_id, e.recorded_at - t.recorded_at AS after
    FROM templates AS t JOIN events AS e ON e.intent_id = t.id`);
  await database.query('UPDATE templates SET place = place - (SELECT min(place) FROM templates)');
  await database.query('ANALYZE templates, template_events');
}

/** Ids are ULIDs: ten characters of time, then sixteen that stand for chance; here hexadecimal, a part of their alphabet. */
async function addChunk(database: FillSession, first: number, count: number, total: number): Promise<void> {
  await database.query(`
    CREATE TEMPORARY TABLE chunk AS
    SELECT n, substr(intent_id_at(at), 1, 10) || upper(substr(md5('id ' || n), 1, 16)) AS id, at, n % 50 AS place,
      encode(sha256(convert_to('key ' || n, 'UTF8')), 'hex') AS key,
      'run_' || substr(intent_id_at(run_at), 1, 10) || upper(substr(md5('run ' || n / ${perRun}), 1, 16)) AS run_id,
      run_at
    FROM generate_series(${first}, ${first + count - 1}) AS n,
      LATERAL (SELECT ${timeOf('n')} AS at, ${timeOf(`n - n % ${perRun}`)} AS run_at) AS times`);
  await database.query(`
    INSERT INTO runs (id, tenant, user_id, profile, permissions, phase, opened_by, opened_at, expires_at, closed_at)
    SELECT DISTINCT ON (c.run_id) c.run_id, r.tenant, r.user_id, r.profile, r.permissions, r.phase, r.opened_by,
      c.run_at, c.run_at + interval '1 hour', c.run_at + interval '50 minutes'
    FROM chunk AS c, (SELECT * FROM runs LIMIT 1) AS r
    ON CONFLICT DO NOTHING`);
  await database.query(`
    INSERT INTO intents (id, tenant, run_id, step_id, tool, tool_version, effect, key, fingerprint, state, version,
      attempts, reason, lease_until, wake_at, expires_at, recorded_at, since, calls, cost, held)
    SELECT c.id, t.tenant, c.run_id, t.step_id, t.tool, t.tool_version, t.effect, c.key, t.fingerprint, t.state,
      t.version, t.attempts, t.reason, NULL, NULL, t.expires_at, c.at, c.at + (t.since - t.recorded_at), t.calls, t.cost, t.held
    FROM chunk AS c JOIN templates AS t USING (place) ORDER BY c.id`);
  await database.query(`
    INSERT INTO events (intent_id, version, type, data, command_id, recorded_at)
    SELECT c.id, e.version, e.type,
      replace(replace(replace(e.data, e.id, c.id), e.key, c.key), e.run_id, c.run_id)::json, e.command_id, c.at + e.after
    FROM chunk AS c JOIN template_events AS e USING (place) ORDER BY c.id, e.version`);
  await database.query('DROP TABLE chunk');

  function timeOf(n: string): string {
    // Ids, events and read model have to agree on the time, and ids know milliseconds only.
    return `date_trunc('milliseconds', now() - interval '1 day' - (${total} - (${n})) * (interval '${months - 1} months' / ${total}))`;
  }
}

function elapsed(from: number): number {
  return (performance.now() - from) / 1000;
}
