CREATE TABLE dead_messages (
  id text NOT NULL,
  digest text NOT NULL,
  tenant text NOT NULL,
  subject text NOT NULL,
  payload bytea NOT NULL,
  session json,
  error json NOT NULL,
  received_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  replayed_at timestamp with time zone,
  replayed_by text,
  intent_id text,
  dismissed_at timestamp with time zone,
  dismissed_by text,
  dismiss_reason text,
  step_id text,
  CONSTRAINT dead_messages_digest_key UNIQUE (digest),
  CONSTRAINT dead_messages_pkey PRIMARY KEY (id)
);

CREATE TABLE events (
  intent_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  type text NOT NULL,
  data json NOT NULL,
  command_id text NOT NULL,
  recorded_at timestamp with time zone NOT NULL,
  CONSTRAINT events_pkey PRIMARY KEY (intent_id, version),
  CONSTRAINT events_version_check CHECK ((version >= 1))
) PARTITION BY RANGE (intent_id);

CREATE TABLE grants (
  id text COLLATE "C" NOT NULL,
  tenant text NOT NULL,
  tool text NOT NULL,
  tool_version integer NOT NULL,
  sandbox boolean NOT NULL,
  condition text,
  max_uses integer NOT NULL,
  max_cost bigint,
  user_id text,
  given_by text NOT NULL,
  giver_roles text[] NOT NULL,
  giver_groups text[] NOT NULL,
  reason text NOT NULL,
  given_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamp with time zone NOT NULL,
  revoked_at timestamp with time zone,
  revoked_by text,
  stamp bigint NOT NULL DEFAULT 0,
  CONSTRAINT grants_pkey PRIMARY KEY (id),
  CONSTRAINT grants_max_uses_check CHECK ((max_uses >= 1))
);

CREATE TABLE intents (
  id text COLLATE "C" NOT NULL,
  tenant text NOT NULL,
  run_id text NOT NULL,
  step_id text,
  tool text NOT NULL,
  tool_version integer NOT NULL,
  effect text NOT NULL,
  key text NOT NULL,
  fingerprint text NOT NULL,
  state text NOT NULL,
  version integer NOT NULL,
  attempts integer NOT NULL,
  reason text,
  lease_until timestamp with time zone,
  wake_at timestamp with time zone,
  expires_at timestamp with time zone NOT NULL,
  recorded_at timestamp with time zone NOT NULL,
  since timestamp with time zone NOT NULL,
  sandbox boolean NOT NULL DEFAULT false,
  calls integer NOT NULL DEFAULT 0,
  cost bigint NOT NULL DEFAULT 0,
  held boolean NOT NULL DEFAULT true,
  operation text,
  operation_until timestamp with time zone,
  likeness text,
  gist text,
  grant_id text,
  CONSTRAINT one_intent_per_key UNIQUE (key),
  CONSTRAINT intents_pkey PRIMARY KEY (id),
  CONSTRAINT a_dead_letter_has_a_reason CHECK (((state <> 'dead_lettered'::text) OR (reason IS NOT NULL))),
  CONSTRAINT an_effect_needs_an_attempt CHECK (((state <> ALL (ARRAY['dispatching'::text, 'accepted'::text, 'unknown'::text, 'dead_lettered'::text, 'committed'::text])) OR (attempts >= 1))),
  CONSTRAINT an_open_attempt_has_a_lease CHECK (((state = 'dispatching'::text) = (lease_until IS NOT NULL))),
  CONSTRAINT intents_attempts_check CHECK ((attempts >= 0)),
  CONSTRAINT intents_effect_check CHECK ((effect = ANY (ARRAY['read'::text, 'write'::text, 'destructive'::text]))),
  CONSTRAINT intents_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'awaiting_approval'::text, 'authorized'::text, 'dispatching'::text, 'accepted'::text, 'unknown'::text, 'dead_lettered'::text, 'committed'::text, 'failed'::text, 'denied'::text, 'cancelled'::text, 'expired'::text]))),
  CONSTRAINT intents_version_check CHECK ((version >= 1)),
  CONSTRAINT whatever_can_move_is_swept CHECK ((((state = ANY (ARRAY['pending'::text, 'awaiting_approval'::text, 'authorized'::text, 'dispatching'::text, 'accepted'::text, 'unknown'::text])) = (wake_at IS NOT NULL)) OR (state = 'committed'::text)))
);

CREATE TABLE lookup_receipts (
  tenant text NOT NULL,
  tool text NOT NULL,
  sandbox boolean NOT NULL,
  digest text NOT NULL,
  intent_id text COLLATE "C" NOT NULL,
  CONSTRAINT lookup_receipts_pkey PRIMARY KEY (tenant, tool, sandbox, digest)
);

CREATE TABLE migrations (
  id integer NOT NULL DEFAULT nextval('migrations_id_seq'::regclass),
  "timestamp" bigint NOT NULL,
  name character varying NOT NULL,
  CONSTRAINT PK_8c82d7f526340ab734260ea46be PRIMARY KEY (id)
);

CREATE TABLE outbox (
  msg_id text NOT NULL,
  subject text NOT NULL,
  payload text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT outbox_pkey PRIMARY KEY (msg_id)
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0);

CREATE TABLE pauses (
  id text COLLATE "C" NOT NULL,
  tenant text,
  tool text,
  namespace text,
  upstream text,
  reason text NOT NULL,
  author text NOT NULL,
  author_tenant text,
  since timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  until timestamp with time zone,
  ended_at timestamp with time zone,
  ended_by text,
  CONSTRAINT pauses_pkey PRIMARY KEY (id)
);

CREATE TABLE rate_buckets (
  id text NOT NULL,
  tokens double precision NOT NULL,
  at timestamp with time zone NOT NULL,
  CONSTRAINT rate_buckets_pkey PRIMARY KEY (id)
) WITH (fillfactor=50);

CREATE TABLE runs (
  id text NOT NULL,
  tenant text NOT NULL,
  user_id text NOT NULL,
  profile text NOT NULL,
  permissions text[] NOT NULL,
  phase text,
  opened_by text NOT NULL,
  opened_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamp with time zone NOT NULL,
  closed_at timestamp with time zone,
  revision integer NOT NULL DEFAULT 1,
  stamp bigint NOT NULL DEFAULT 0,
  sandbox boolean NOT NULL DEFAULT false,
  restrictions json NOT NULL DEFAULT '[]'::json,
  max_calls integer,
  max_mutating integer,
  max_destructive integer,
  max_cost bigint,
  acts_until timestamp with time zone,
  calls integer NOT NULL DEFAULT 0,
  mutating integer NOT NULL DEFAULT 0,
  destructive integer NOT NULL DEFAULT 0,
  cost bigint NOT NULL DEFAULT 0,
  denied integer NOT NULL DEFAULT 0,
  tainted_by text,
  refused boolean NOT NULL DEFAULT false,
  CONSTRAINT runs_pkey PRIMARY KEY (id),
  CONSTRAINT runs_profile_check CHECK ((profile = ANY (ARRAY['interactive'::text, 'batch'::text])))
) WITH (fillfactor=70);

CREATE TABLE tool_contracts (
  name text NOT NULL,
  version integer NOT NULL,
  digest text NOT NULL,
  contract json NOT NULL,
  first_seen timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT tool_contracts_pkey PRIMARY KEY (name, version)
);

CREATE TABLE yields (
  run_id text COLLATE "C" NOT NULL,
  digest text NOT NULL,
  source text NOT NULL,
  CONSTRAINT yields_pkey PRIMARY KEY (run_id, digest, source)
);

CREATE INDEX dead_messages_open ON public.dead_messages USING btree (tenant, id) WHERE ((intent_id IS NULL) AND (dismissed_at IS NULL));
CREATE INDEX grants_open ON public.grants USING btree (tenant, tool) WHERE (revoked_at IS NULL);
CREATE INDEX intents_alike ON public.intents USING btree (likeness, recorded_at) WHERE (likeness IS NOT NULL);
CREATE INDEX intents_awaiting ON public.intents USING btree (tenant, id) WHERE (state = 'awaiting_approval'::text);
CREATE INDEX intents_dead ON public.intents USING btree (tenant, id) WHERE (state = 'dead_lettered'::text);
CREATE INDEX intents_due ON public.intents USING btree (state, wake_at) WHERE (wake_at IS NOT NULL);
CREATE INDEX intents_granted ON public.intents USING btree (grant_id) WHERE (held AND (grant_id IS NOT NULL));
CREATE INDEX intents_of_run ON public.intents USING btree (run_id, id);
CREATE INDEX intents_refused ON public.intents USING btree (gist, id) WHERE (reason = 'approval_refused'::text);
CREATE INDEX intents_unclear ON public.intents USING btree (run_id) WHERE (state = ANY (ARRAY['awaiting_approval'::text, 'unknown'::text, 'accepted'::text, 'dead_lettered'::text]));
CREATE INDEX pauses_open ON public.pauses USING btree (since) WHERE (ended_at IS NULL);
CREATE UNIQUE INDEX one_intent_per_operation ON public.intents USING btree (operation) WHERE (operation IS NOT NULL);

CREATE OR REPLACE FUNCTION public.ensure_event_partitions(months_ahead integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
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
      END $function$
;
CREATE OR REPLACE FUNCTION public.intent_id_at(at timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
        SELECT string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ',
                 ((extract(epoch FROM at) * 1000)::bigint >> (5 * place) & 31)::int + 1, 1), '' ORDER BY place DESC)
               || repeat('0', 16)
        FROM generate_series(0, 9) AS place
      $function$
;

GRANT INSERT, SELECT, UPDATE ON dead_messages TO intendant_app;
GRANT INSERT, SELECT ON events TO intendant_app;
GRANT INSERT, SELECT, UPDATE ON grants TO intendant_app;
GRANT INSERT, SELECT, UPDATE ON intents TO intendant_app;
GRANT INSERT, SELECT, UPDATE ON lookup_receipts TO intendant_app;
GRANT SELECT ON migrations TO intendant_app;
GRANT DELETE, INSERT, SELECT, UPDATE ON outbox TO intendant_app;
GRANT INSERT, SELECT, UPDATE ON pauses TO intendant_app;
GRANT INSERT, SELECT, UPDATE ON rate_buckets TO intendant_app;
GRANT INSERT, SELECT, UPDATE ON runs TO intendant_app;
GRANT INSERT, SELECT ON tool_contracts TO intendant_app;
GRANT DELETE, INSERT, SELECT ON yields TO intendant_app;
