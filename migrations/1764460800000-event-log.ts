import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The event log, the read models that can be folded from it, and the outbox. */
export class EventLog1764460800000 implements MigrationInterface {
  readonly name = 'EventLog1764460800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- The first ten characters of a ULID are its time in ms: the least id that can have been made at that time.
      CREATE FUNCTION intent_id_at(at timestamptz) RETURNS text
      LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
        SELECT string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ',
                 ((extract(epoch FROM at) * 1000)::bigint >> (5 * place) & 31)::int + 1, 1), '' ORDER BY place DESC)
               || repeat('0', 16)
        FROM generate_series(0, 9) AS place
      $$`);
    await runner.query(`
      CREATE TABLE events (
        intent_id   text COLLATE "C" NOT NULL,
        version     integer NOT NULL CHECK (version >= 1),
        type        text NOT NULL,
        data        json NOT NULL,
        command_id  text NOT NULL,
        recorded_at timestamptz NOT NULL,
        PRIMARY KEY (intent_id, version)
      ) PARTITION BY RANGE (intent_id)`);
    await runner.query('CREATE TABLE events_default PARTITION OF events DEFAULT');
    await runner.query(`
      -- One partition a month of the intents' own ids, so that all events of an intent lie together and
      -- (intent_id, version) stays unique. Made ahead of time: a month that has begun in the default one stays there.
      CREATE FUNCTION ensure_event_partitions(months_ahead integer) RETURNS integer
      LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '2s' AS $$
      DECLARE
        month timestamptz;
        made integer := 0;
      BEGIN
        PERFORM pg_advisory_xact_lock(hashtext('ensure_event_partitions'));
        FOR i IN 0..months_ahead LOOP
          month := date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' + make_interval(months => i);
          CONTINUE WHEN to_regclass('events_' || to_char(month AT TIME ZONE 'UTC', 'YYYY_MM')) IS NOT NULL;
          CONTINUE WHEN EXISTS (SELECT FROM events_default
            WHERE intent_id >= intent_id_at(month) AND intent_id < intent_id_at(month + interval '1 month'));
          EXECUTE format('CREATE TABLE %I PARTITION OF events FOR VALUES FROM (%L) TO (%L)',
            'events_' || to_char(month AT TIME ZONE 'UTC', 'YYYY_MM'),
            intent_id_at(month), intent_id_at(month + interval '1 month'));
          made := made + 1;
        END LOOP;
        RETURN made;
      END $$`);
    await runner.query('REVOKE ALL ON FUNCTION ensure_event_partitions(integer) FROM PUBLIC');
    await runner.query('SELECT ensure_event_partitions(2)');

    await runner.query(`
      CREATE TABLE intents (
        id           text COLLATE "C" PRIMARY KEY,
        tenant       text NOT NULL,
        run_id       text NOT NULL,
        step_id      text,
        tool         text NOT NULL,
        tool_version integer NOT NULL,
        effect       text NOT NULL CHECK (effect IN ('read', 'write', 'destructive')),
        key          text NOT NULL,
        fingerprint  text NOT NULL,
        state        text NOT NULL CHECK (state IN ('pending', 'authorized', 'dispatching', 'accepted', 'unknown',
                       'dead_lettered', 'committed', 'failed', 'denied', 'cancelled', 'expired')),
        version      integer NOT NULL CHECK (version >= 1),
        attempts     integer NOT NULL CHECK (attempts >= 0),
        reason       text,
        lease_until  timestamptz,
        -- When a sweeper has to look at it next; the only column that is not folded from the log.
        wake_at      timestamptz,
        expires_at   timestamptz NOT NULL,
        recorded_at  timestamptz NOT NULL,
        -- When the present state was entered: how long something has been unknown, say.
        since        timestamptz NOT NULL,
        CONSTRAINT one_intent_per_key UNIQUE (key),
        CONSTRAINT an_open_attempt_has_a_lease CHECK ((state = 'dispatching') = (lease_until IS NOT NULL)),
        CONSTRAINT whatever_can_move_is_swept CHECK (
          (state IN ('pending', 'authorized', 'dispatching', 'accepted', 'unknown')) = (wake_at IS NOT NULL)),
        CONSTRAINT an_effect_needs_an_attempt CHECK (
          state NOT IN ('dispatching', 'accepted', 'unknown', 'dead_lettered', 'committed') OR attempts >= 1),
        CONSTRAINT a_dead_letter_has_a_reason CHECK (state <> 'dead_lettered' OR reason IS NOT NULL)
      )`);
    await runner.query('CREATE INDEX intents_due ON intents (state, wake_at) WHERE wake_at IS NOT NULL');
    await runner.query('CREATE INDEX intents_of_run ON intents (run_id, id)');
    await runner.query("CREATE INDEX intents_dead ON intents (tenant, id) WHERE state = 'dead_lettered'");

    await runner.query(`
      CREATE TABLE outbox (
        position   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        msg_id     text NOT NULL,
        subject    text NOT NULL,
        payload    text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp()
      ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0)`);

    await runner.query(`
      CREATE TABLE runs (
        id          text PRIMARY KEY,
        tenant      text NOT NULL,
        user_id     text NOT NULL,
        profile     text NOT NULL CHECK (profile IN ('interactive', 'batch')),
        permissions text[] NOT NULL,
        phase       text,
        opened_by   text NOT NULL,
        opened_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
        expires_at  timestamptz NOT NULL,
        closed_at   timestamptz
      )`);

    await runner.query(`
      CREATE TABLE dead_messages (
        id             text PRIMARY KEY,
        -- Same message, same row: what comes again over the bus is not another dead message.
        digest         text NOT NULL UNIQUE,
        -- Of the verified sender, else the one it was addressed to.
        tenant         text NOT NULL,
        subject        text NOT NULL,
        payload        bytea NOT NULL,
        -- Who sent it, when its token could be verified; never the token itself.
        session        json,
        error          json NOT NULL,
        received_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
        replayed_at    timestamptz,
        replayed_by    text,
        intent_id      text,
        -- A person has seen it and nothing more is to be done about it.
        dismissed_at   timestamptz,
        dismissed_by   text,
        dismiss_reason text
      )`);

    await runner.query(
      `CREATE INDEX dead_messages_open ON dead_messages (tenant, id)
       WHERE intent_id IS NULL AND dismissed_at IS NULL`,
    );

    await runner.query(`
      CREATE TABLE tool_contracts (
        name       text NOT NULL,
        version    integer NOT NULL,
        digest     text NOT NULL,
        contract   json NOT NULL,
        first_seen timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (name, version)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE tool_contracts, dead_messages, runs, outbox, intents, events');
    await runner.query('DROP FUNCTION ensure_event_partitions(integer)');
    await runner.query('DROP FUNCTION intent_id_at(timestamptz)');
  }
}
