import { longestPast, type StandingGrant } from '@intendant/contracts';
import type { Effect, JsonObject, StateName } from '@intendant/intent';

/** Arguments that take more bytes of JSON than this are not told of again. */
export const longestArgs = 16_384;

const ms = (time: string) => `(extract(epoch FROM ${time}) * 1000)::float8`;

/**
 * What decisions about new intents go by, as of one moment: what the intents of runs $1 take of their budgets, counted
 * anew, with the past of those in $2; who holds operations $3; what is in buckets $4; what looked like $5 in the last
 * $6 ms (one for each); which of the values $8 the results of runs $7 have had; what of $9 a person has refused, the first of
 * each; which grants tenants $10 have in force for tools $11, and how much of each is taken; and what of the runs is not over.
 * What the intents $12 take is not counted, and they are not in the past of their runs.
 */
export const loadFacts = {
  name: 'load_facts',
  text: `
    SELECT ${ms('clock_timestamp()')} AS now,
      (SELECT json_agg(r) FROM (
        SELECT r.id, r.revision, r.stamp, r.phase, r.closed_at IS NOT NULL AS closed, r.tainted_by AS "taintedBy", r.denied,
          ${ms('r.opened_at')} AS "openedAt", ${ms('r.acts_until')} AS "actsUntil",
          ${ms('r.expires_at')} AS "expiresAt",
          r.max_calls AS "maxCalls", r.max_mutating AS "maxMutating", r.max_destructive AS "maxDestructive", r.max_cost AS "maxCost",
          u.calls, u.mutating, u.destructive, u.cost, past.list AS past
        FROM runs AS r
        CROSS JOIN LATERAL (
          SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(cost), 0) AS cost,
            count(*) FILTER (WHERE held AND NOT sandbox AND effect <> 'read') AS mutating,
            count(*) FILTER (WHERE held AND NOT sandbox AND effect = 'destructive') AS destructive
          FROM intents WHERE run_id = r.id AND (held OR calls > 0) AND id <> ALL ($12::text[])
        ) AS u
        LEFT JOIN LATERAL (
          SELECT json_agg(p) AS list FROM (
            SELECT i.tool, i.effect, i.state, i.held, i.sandbox, i.cost, ${ms('i.recorded_at')} AS at,
              -- Long ones are not even read.
              CASE WHEN octet_length(e.data::text) <= ${4 * longestArgs} THEN (
                SELECT args FROM (SELECT e.data #> '{proposal,args}' AS args) AS a WHERE octet_length(args::text) <= ${longestArgs}
              ) END AS args
            FROM (
              (SELECT * FROM intents WHERE run_id = r.id AND held AND id <> ALL ($12::text[]) ORDER BY id DESC LIMIT ${longestPast + 1})
              UNION ALL
              (SELECT * FROM intents WHERE run_id = r.id AND state = 'denied' ORDER BY id DESC LIMIT ${longestPast + 1})
            ) AS i JOIN events AS e ON e.intent_id = i.id AND e.version = 1
            WHERE r.id = ANY ($2::text[])
            ORDER BY i.id DESC
          ) AS p
        ) AS past ON true
        WHERE r.id = ANY ($1::text[])
      ) AS r) AS runs,
      (SELECT json_agg(o) FROM (
        SELECT operation, id AS "intentId", run_id AS "runId", state, ${ms('operation_until')} AS until
        FROM intents WHERE operation = ANY ($3::text[])
      ) AS o) AS operations,
      (SELECT json_agg(b) FROM (
        SELECT id, tokens, ${ms('at')} AS at FROM rate_buckets WHERE id = ANY ($4::text[])
      ) AS b) AS buckets,
      (SELECT json_agg(a) FROM (
        SELECT q.likeness, i.id AS "intentId", i.run_id AS "runId", i.state, ${ms('i.recorded_at')} AS at
        FROM unnest($5::text[], $6::float8[]) AS q (likeness, for_ms)
        CROSS JOIN LATERAL (
          SELECT * FROM intents
          WHERE likeness = q.likeness AND recorded_at >= statement_timestamp() - q.for_ms * interval '1 ms' AND held
          ORDER BY recorded_at DESC LIMIT 1
        ) AS i
      ) AS a) AS alike,
      (SELECT json_agg(y) FROM (
        SELECT run_id AS "runId", digest, source FROM yields WHERE run_id = ANY ($7::text[]) AND digest = ANY ($8::text[])
      ) AS y) AS yields,
      (SELECT json_agg(f) FROM (
        SELECT q.gist, i.id AS "intentId", e.data ->> 'by' AS by, e.data ->> 'reason' AS reason
        FROM unnest($9::text[]) AS q (gist)
        CROSS JOIN LATERAL (
          SELECT id FROM intents WHERE gist = q.gist AND reason = 'approval_refused' ORDER BY id LIMIT 1
        ) AS i
        JOIN events AS e ON e.intent_id = i.id AND e.type = 'refused'
      ) AS f) AS refused,
      (SELECT json_agg(g) FROM (
        SELECT g.id, g.tenant, g.tool, g.tool_version AS "toolVersion", g.condition AS "when", g.user_id AS "user", g.sandbox,
          g.given_by AS "givenBy", g.giver_roles AS roles, g.giver_groups AS groups, g.stamp,
          g.max_uses - u.used AS "usesLeft", g.max_cost - u.spent AS "costLeft"
        FROM unnest($10::text[], $11::text[]) AS q (tenant, tool)
        JOIN grants AS g ON g.tenant = q.tenant AND g.tool = q.tool AND g.revoked_at IS NULL AND g.expires_at > clock_timestamp()
        CROSS JOIN LATERAL (
          SELECT count(*) AS used, coalesce(sum(cost), 0) AS spent FROM intents WHERE grant_id = g.id AND held
        ) AS u
        ORDER BY g.expires_at, g.id
      ) AS g) AS grants,
      (SELECT json_agg(q) FROM (
        SELECT run_id AS "runId", id AS "intentId", tool, fingerprint, sandbox, gist, state FROM intents
        WHERE run_id = ANY ($1::text[]) AND held AND state IN ('awaiting_approval', 'authorized', 'dispatching', 'accepted', 'unknown', 'dead_lettered')
      ) AS q) AS open`,
};

/** One row; a list without members is null. */
export interface FactsRow {
  readonly now: number;
  readonly runs: readonly RunFactsRow[] | null;
  readonly operations: readonly HolderRow[] | null;
  readonly buckets: readonly { readonly id: string; readonly tokens: number; readonly at: number }[] | null;
  readonly alike: readonly AlikeRow[] | null;
  readonly yields: readonly { readonly runId: string; readonly digest: string; readonly source: string }[] | null;
  readonly refused: readonly RefusedRow[] | null;
  readonly grants: readonly GrantRow[] | null;
  readonly open: readonly OpenRow[] | null;
}

export interface RunFactsRow {
  readonly id: string;
  readonly revision: number;
  readonly stamp: number;
  readonly phase: string | null;
  readonly closed: boolean;
  readonly taintedBy: string | null;
  readonly denied: number;
  readonly openedAt: number;
  readonly actsUntil: number | null;
  readonly expiresAt: number;
  readonly maxCalls: number | null;
  readonly maxMutating: number | null;
  readonly maxDestructive: number | null;
  readonly maxCost: number | null;
  readonly calls: number;
  readonly mutating: number;
  readonly destructive: number;
  readonly cost: number;
  readonly past: readonly PastRow[] | null;
}

export interface PastRow {
  readonly tool: string;
  readonly effect: Effect;
  readonly state: StateName;
  readonly held: boolean;
  readonly sandbox: boolean;
  readonly cost: number;
  readonly at: number;
  readonly args: JsonObject | null;
}

export interface HolderRow {
  readonly operation: string;
  readonly intentId: string;
  readonly runId: string;
  readonly state: StateName;
  readonly until: number;
}

export interface AlikeRow {
  readonly likeness: string;
  readonly intentId: string;
  readonly runId: string;
  readonly state: StateName;
  readonly at: number;
}

export interface RefusedRow {
  readonly gist: string;
  readonly intentId: string;
  readonly by: string;
  readonly reason: string;
}

export interface GrantRow extends StandingGrant {
  readonly tenant: string;
  readonly tool: string;
  readonly stamp: number;
}

export interface OpenRow {
  readonly runId: string;
  readonly intentId: string;
  readonly tool: string;
  readonly fingerprint: string;
  readonly sandbox: boolean;
  readonly gist: string | null;
  readonly state: StateName;
}

/** Token buckets that are not there yet, full. */
export const fillBuckets = {
  name: 'fill_buckets',
  text: `
    INSERT INTO rate_buckets (id, tokens, at)
    SELECT b.id, b.capacity, clock_timestamp() FROM unnest($1::text[], $2::float8[]) AS b (id, capacity)
    ON CONFLICT DO NOTHING`,
};

/** Operations whose time is over may be somebody else's. */
export const letGo = {
  name: 'let_go',
  text: `
    UPDATE intents SET operation = NULL
    WHERE operation = ANY ($1::text[]) AND operation_until <= clock_timestamp()`,
};
