import type { Restriction } from '@intendant/contracts';

const columns = `id, tenant, user_id AS "user", profile, permissions, phase, sandbox, restrictions, opened_by AS "openedBy",
  opened_at AS "openedAt", expires_at AS "expiresAt", closed_at AS "closedAt", revision, tainted_by AS "taintedBy", refused,
  max_calls AS "maxCalls", max_mutating AS "maxMutating", max_destructive AS "maxDestructive",
  max_cost::float8 AS "maxCost", acts_until AS "actsUntil"`;

export interface RunRow {
  id: string;
  tenant: string;
  user: string;
  profile: 'interactive' | 'batch';
  permissions: string[];
  phase: string | null;
  sandbox: boolean;
  restrictions: Restriction[];
  openedBy: string;
  openedAt: Date;
  expiresAt: Date;
  closedAt: Date | null;
  revision: number;
  taintedBy: string | null;
  refused: boolean;
  maxCalls: number | null;
  maxMutating: number | null;
  maxDestructive: number | null;
  maxCost: number | null;
  actsUntil: Date | null;
}

/**
 * Runs of a JSON list, each with the fields named here. Each lives `ttlMs`, and may act for `wallClockMs` of them (null:
 * for all), counted on the database clock.
 */
export const openRuns = {
  name: 'open_runs',
  text: `
    INSERT INTO runs (id, tenant, user_id, profile, permissions, phase, opened_by, opened_at, expires_at, sandbox, restrictions,
      max_calls, max_mutating, max_destructive, max_cost, acts_until)
    SELECT run.id, tenant, "user", profile, ARRAY(SELECT json_array_elements_text(permissions)), phase, "openedBy",
      clock.now, clock.now + "ttlMs" * interval '1 ms', sandbox, restrictions,
      calls, mutating, destructive, "costMicros", clock.now + "wallClockMs" * interval '1 ms'
    FROM (SELECT clock_timestamp() AS now) AS clock, json_to_recordset($1::json) AS run (id text, tenant text, "user" text,
      profile text, permissions json, phase text, "openedBy" text, "ttlMs" float8, sandbox boolean, restrictions json,
      calls integer, mutating integer, destructive integer, "costMicros" bigint, "wallClockMs" float8)
    RETURNING ${columns}`,
};

export const findRuns = { name: 'find_runs', text: `SELECT ${columns} FROM runs WHERE id = ANY ($1::text[])` };

/** What the intents of a run take of its budgets, counted anew. */
export const countUsed = {
  name: 'count_used',
  text: `
    SELECT coalesce(sum(calls), 0)::int AS calls, coalesce(sum(cost), 0)::float8 AS cost,
      (count(*) FILTER (WHERE held AND NOT sandbox AND effect <> 'read'))::int AS mutating,
      (count(*) FILTER (WHERE held AND NOT sandbox AND effect = 'destructive'))::int AS destructive
    FROM intents WHERE run_id = $1 AND (held OR calls > 0)`,
};

export const closeRun = {
  name: 'close_run',
  text: `
    UPDATE runs SET closed_at = coalesce(closed_at, clock_timestamp()), revision = revision + 1
    WHERE id = $1 AND tenant = $2`,
};

/** An open run of tenant $2 enters phase $3; null: none. */
export const enterPhase = {
  name: 'enter_phase',
  text: `
    UPDATE runs SET phase = $3, revision = revision + 1
    WHERE id = $1 AND tenant = $2 AND closed_at IS NULL AND expires_at > clock_timestamp()
    RETURNING ${columns}`,
};
