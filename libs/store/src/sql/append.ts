import { clockToleranceMs } from '@intendant/contracts';
import type { AppendValues } from '../append-values.js';
import { accounts, charged } from './append-accounts.js';
import { notStopped, stopped, taken, tokens, withinTokens } from './append-limits.js';
import { named } from './named.js';

/** What a batch has to do with; what it has nothing to do with costs it nothing. */
interface Parts {
  /** Intents that are new, or take more of their runs. */
  readonly accounts: boolean;
  /** Rates, grants, phases of tools, identifiers that were found. */
  readonly limits: boolean;
}

/**
 * The whole transaction of the door in one statement: read-model rows compared and set by version, then, only for
 * those that were still at the expected version, their events and messages. Nothing is written when the time of the
 * decisions (`now`) is not the time of the database.
 *
 * An intent that is new is recorded only when its run is as it was when that was decided (`expected`: revision and, if
 * the decision went by what the run has done, stamp), when what all new intents of the batch take of it fits into its
 * limits, when its buckets have a token for each, and when nobody has taken of its grant or revoked it since that was
 * counted; several of one run, bucket or grant go together. Rows of runs, then of buckets, then of grants are locked in
 * the order of their ids before anything is written, so that replicas wait for one another and not in a circle, and
 * what is compared is the newest there is.
 *
 * Returns the time, and beside it the intents that were not written, if any: somebody else moved them, recorded their
 * key or their operation first, closed or changed their run, took it to another phase, used up what they needed, or
 * revoked their grant. Their neighbours are not affected.
 */
function append(name: string, parts: Parts) {
  const ctes = [
    clock,
    parts.accounts && accounts,
    parts.limits && tokens,
    change,
    parts.accounts && fresh(parts),
    parts.limits && stopped,
    moved(parts),
    parts.accounts ? 'done AS (SELECT id FROM fresh UNION ALL SELECT id FROM moved)' : 'done AS (SELECT id FROM moved)',
    parts.accounts && charged,
    parts.limits && taken,
    written,
  ];
  const text = `WITH ${ctes.filter(Boolean).join(', ')}
    SELECT clock.now, lost.id,
      ${parts.accounts ? runClosed : 'false'} AS "runClosed",
      ${parts.limits ? 'EXISTS (SELECT FROM out_of_phase AS p WHERE p.intent_id = lost.id)' : 'false'} AS "outOfPhase",
      ${parts.limits ? 'EXISTS (SELECT FROM grant_over AS v WHERE v.intent_id = lost.id)' : 'false'} AS "grantOver"
    FROM clock LEFT JOIN lost ON true`;
  return named<AppendValues>(name, text);
}

const clock = `
  clock AS MATERIALIZED (
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now
  )`;

const change = `
  change AS (
    SELECT c.* FROM clock, unnest(@ids::text[], @expected::int[], @versions::int[], @states::text[], @attempts::int[],
      @reasons::text[], @leases::float8[], @wakes::float8[], @expiries::float8[], @sinces::float8[], @calls::int[],
      @costs::float8[], @holds::boolean[], @operations::text[], @operationWindows::float8[])
      AS c (id, expected, version, state, attempts, reason, lease_until, wake_at, expires_at, since, calls, cost, held, operation,
        operation_ms)
    WHERE abs(clock.now - @now::float8) <= ${clockToleranceMs}
  )`;

const fresh = ({ limits }: Parts) => `
  fresh AS (
    INSERT INTO intents (id, tenant, run_id, step_id, tool, tool_version, effect, key, fingerprint, sandbox,
      state, version, attempts, reason, lease_until, wake_at, expires_at, recorded_at, since, calls, cost, held, operation,
      operation_until, likeness, gist, grant_id)
    SELECT c.id, n.tenant, n.run_id, n.step_id, n.tool, n.tool_version, n.effect, n.key, n.fingerprint, n.sandbox,
      c.state, c.version, c.attempts, c.reason, to_timestamp(c.lease_until / 1000), to_timestamp(c.wake_at / 1000),
      to_timestamp(c.expires_at / 1000), to_timestamp(c.since / 1000), to_timestamp(c.since / 1000), c.calls, c.cost, c.held,
      c.operation, to_timestamp((c.since + c.operation_ms) / 1000), n.likeness, n.gist, n.grant_id
    FROM unnest(@freshIds::text[], @tenants::text[], @runs::text[], @steps::text[], @tools::text[], @toolVersions::int[],
      @effects::text[], @keys::text[], @fingerprints::text[], @sandboxes::boolean[], @likenesses::text[], @gists::text[],
      @grantIds::text[], @grantStamps::bigint[])
      AS n (id, tenant, run_id, step_id, tool, tool_version, effect, key, fingerprint, sandbox, likeness, gist, grant_id, grant_stamp)
    JOIN change AS c ON c.id = n.id
    WHERE NOT EXISTS (SELECT FROM account AS a WHERE a.id = n.run_id AND a.unfit)${limits ? withinTokens : ''}
      -- Nobody knows how the same call of this run ended, or people are asked about it: it is not made again, whatever its step.
      AND NOT EXISTS (
        SELECT FROM intents AS u
        WHERE u.run_id = n.run_id AND u.state IN ('awaiting_approval', 'unknown', 'accepted', 'dead_lettered') AND c.held
          AND u.tool = n.tool AND u.fingerprint = n.fingerprint AND u.sandbox = n.sandbox
          AND (n.effect <> 'read' OR u.state = 'awaiting_approval'))
    -- Whoever waits for another one's operation or key does so in the same order.
    ORDER BY c.operation NULLS FIRST, n.key
    ON CONFLICT DO NOTHING
    RETURNING id, grant_id
  )`;

const moved = (parts: Parts) => `
  moved AS (
    UPDATE intents AS i
    SET state = c.state, version = c.version, attempts = c.attempts, reason = c.reason,
      lease_until = to_timestamp(c.lease_until / 1000), wake_at = to_timestamp(c.wake_at / 1000),
      expires_at = to_timestamp(c.expires_at / 1000), since = to_timestamp(c.since / 1000),
      calls = c.calls, cost = c.cost, held = c.held,
      operation = CASE
        WHEN c.operation IS NULL OR i.held THEN CASE WHEN c.held THEN i.operation END
        -- It did happen after all; whoever has taken the operation meanwhile keeps it.
        WHEN NOT EXISTS (SELECT FROM intents AS o WHERE o.operation = c.operation) THEN c.operation
      END
    FROM change AS c
    WHERE i.id = c.id AND i.version = c.expected AND c.expected > 0
      ${parts.accounts ? 'AND (SELECT count(*) FROM run) >= 0' : ''}${parts.limits ? notStopped : ''}
    RETURNING i.id
  )`;

/** The log and the outbox, for what was written; and what was not. */
const written = `
  log AS (
    INSERT INTO events (intent_id, version, type, data, command_id, recorded_at)
    SELECT e.intent_id, e.version, e.type, e.data::json, e.command_id, to_timestamp(e.at / 1000)
    FROM unnest(@logIds::text[], @logVersions::int[], @logTypes::text[], string_to_array(@logData::text, chr(31)),
      @logCommands::text[], @logTimes::float8[])
      AS e (intent_id, version, type, data, command_id, at)
    JOIN done ON done.id = e.intent_id
  ), box AS (
    INSERT INTO outbox (msg_id, subject, payload)
    SELECT o.msg_id, o.subject, o.payload
    FROM unnest(@messageIntents::text[], @messageIds::text[], @subjects::text[], string_to_array(@payloads::text, chr(31)))
      AS o (intent_id, msg_id, subject, payload)
    WHERE EXISTS (SELECT FROM done WHERE o.intent_id IS NULL OR done.id = o.intent_id)
  ), lost AS (
    SELECT asked.id FROM unnest(@ids::text[]) AS asked (id)
    WHERE NOT EXISTS (SELECT FROM done WHERE done.id = asked.id)
  )`;

const runClosed = `EXISTS (
        SELECT FROM unnest(@freshIds::text[], @runs::text[]) AS n (id, run_id) JOIN runs AS r ON r.id = n.run_id
        WHERE n.id = lost.id AND r.closed_at IS NOT NULL
      )`;

export const everything = append('append', { accounts: true, limits: true });
export const withoutLimits = append('append_plain', { accounts: true, limits: false });
/** Starts and verdicts, mostly. */
export const onlyMoves = append('append_moves', { accounts: false, limits: false });

/** The statement that writes these, and nothing that they have nothing to do with. */
export function appendFor(values: AppendValues) {
  const { freshIds, chargeIds, grantIds, bucketIds, yieldIntents, phasedIds, grantedIds } = values;
  const limits = [bucketIds, yieldIntents, phasedIds, grantedIds].some((list) => list.length > 0);
  if (limits || grantIds.some((grant) => grant !== null)) return everything;
  return freshIds.length + chargeIds.length > 0 ? withoutLimits : onlyMoves;
}

export interface Appended {
  readonly now: number;
  /** Null when everything was written. */
  readonly id: string | null;
  readonly runClosed: boolean;
  /** Its attempt may not start: the run is not in a phase of the tool. */
  readonly outOfPhase: boolean;
  /** Its attempt may not start: its grant was revoked, or its time is over. */
  readonly grantOver: boolean;
}
