import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What admission goes by: limits of a run and what is used of them, the operation that an intent holds, what a run has
 * been told, and token buckets.
 *
 * The counters of a run are never less than what its intents hold; they are counted again where a limit is met. Limits
 * that are null do not hold: runs from before have none.
 */
export class Admission1796342400000 implements MigrationInterface {
  readonly name = 'Admission1796342400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE runs
        ADD COLUMN revision integer NOT NULL DEFAULT 1,
        ADD COLUMN stamp bigint NOT NULL DEFAULT 0,
        ADD COLUMN sandbox boolean NOT NULL DEFAULT false,
        ADD COLUMN restrictions json NOT NULL DEFAULT '[]',
        ADD COLUMN max_calls integer,
        ADD COLUMN max_mutating integer,
        ADD COLUMN max_destructive integer,
        ADD COLUMN max_cost bigint,
        ADD COLUMN acts_until timestamptz,
        ADD COLUMN calls integer NOT NULL DEFAULT 0,
        ADD COLUMN mutating integer NOT NULL DEFAULT 0,
        ADD COLUMN destructive integer NOT NULL DEFAULT 0,
        ADD COLUMN cost bigint NOT NULL DEFAULT 0,
        ADD COLUMN denied integer NOT NULL DEFAULT 0,
        ADD COLUMN tainted_by text`);
    // Rows of runs are changed with each intent now; room on their pages keeps that off the indexes.
    await runner.query('ALTER TABLE runs SET (fillfactor = 70)');
    await runner.query(`
      ALTER TABLE intents
        ADD COLUMN calls integer NOT NULL DEFAULT 0,
        ADD COLUMN cost bigint NOT NULL DEFAULT 0,
        ADD COLUMN held boolean NOT NULL DEFAULT true,
        ADD COLUMN operation text,
        ADD COLUMN operation_until timestamptz,
        ADD COLUMN likeness text`);
    // What upstreams said is in there too, and not all of it can be read as JSON by the database; so it is taken as text.
    // What is recorded already takes what it has taken: requests that went out, or the one that may.
    await runner.query(`
      UPDATE intents AS i SET calls = CASE
          WHEN state IN ('committed', 'failed', 'denied', 'cancelled', 'expired') THEN u.sent ELSE greatest(1, u.sent)
        END,
        held = state NOT IN ('failed', 'denied', 'cancelled', 'expired') OR u.corrected
      FROM (
        SELECT r.id, r.attempts - count(e.version) FILTER (WHERE e.type = 'attempt_not_executed')::integer AS sent,
          count(e.version) FILTER (WHERE e.type = 'corrected') > 0 AS corrected
        FROM intents AS r
        LEFT JOIN events AS e ON e.intent_id = r.id
          AND (e.type = 'attempt_not_executed' AND e.data::text LIKE '%,"sent":false}'
            OR e.type = 'corrected' AND substring(e.data::text FROM '"finding":"([a-z_]+)"') <> 'second_effect')
        GROUP BY r.id
      ) AS u
      WHERE u.id = i.id`);
    await runner.query(
      'CREATE UNIQUE INDEX one_intent_per_operation ON intents (operation) WHERE operation IS NOT NULL',
    );
    await runner.query('CREATE INDEX intents_alike ON intents (likeness, recorded_at) WHERE likeness IS NOT NULL');
    await runner.query(`
      CREATE INDEX intents_unclear ON intents (run_id) WHERE state IN ('unknown', 'accepted', 'dead_lettered')`);
    await runner.query(`
      CREATE TABLE yields (
        run_id text COLLATE "C" NOT NULL,
        digest text NOT NULL,
        source text NOT NULL,
        PRIMARY KEY (run_id, digest, source)
      )`);
    await runner.query(`
      CREATE TABLE rate_buckets (
        id text PRIMARY KEY,
        tokens double precision NOT NULL,
        at timestamptz NOT NULL
      ) WITH (fillfactor = 50)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE rate_buckets, yields');
    await runner.query('DROP INDEX one_intent_per_operation, intents_alike, intents_unclear');
    await runner.query(`
      ALTER TABLE intents DROP COLUMN calls, DROP COLUMN cost, DROP COLUMN held, DROP COLUMN operation,
        DROP COLUMN operation_until, DROP COLUMN likeness`);
    await runner.query('ALTER TABLE runs RESET (fillfactor)');
    await runner.query(`
      ALTER TABLE runs DROP COLUMN revision, DROP COLUMN stamp, DROP COLUMN sandbox,
        DROP COLUMN restrictions, DROP COLUMN max_calls, DROP COLUMN max_mutating,
        DROP COLUMN max_destructive, DROP COLUMN max_cost, DROP COLUMN acts_until, DROP COLUMN calls,
        DROP COLUMN mutating, DROP COLUMN destructive, DROP COLUMN cost, DROP COLUMN denied,
        DROP COLUMN tainted_by`);
  }
}
