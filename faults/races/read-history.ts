import type { DatabaseDump } from '../history/database.js';
import type { History, ToolPromise } from '../history/history.js';
import type { Schedule } from './schedule.js';
import type { Stage } from './stage.js';
import { tools } from './tools.js';

/** Whole ms, exactly: times of a schedule are compared. */
const ms = (column: string) => `(extract(epoch FROM ${column}) * 1000)::float8`;

const statements = {
  // A step takes a moment and commits at once, so an event is as old as its decision.
  events: `
    SELECT intent_id AS "intentId", version, type, data, command_id AS "commandId",
      ${ms('recorded_at')} AS "recordedAt", ${ms('recorded_at')} AS "committedAt"
    FROM events ORDER BY intent_id, version`,
  intents: `
    SELECT id, tenant, run_id AS "runId", step_id AS "stepId", tool, effect, key, fingerprint, state, version, attempts,
      reason, ${ms('lease_until')} AS "leaseUntil", ${ms('wake_at')} AS "wakeAt"
    FROM intents ORDER BY id`,
  outbox: 'SELECT msg_id AS "msgId", subject, payload FROM outbox ORDER BY msg_id',
} as const;

const promises: Readonly<Record<string, ToolPromise>> = Object.fromEntries(
  tools.map(({ name, terms }) => [name, { ...terms, authoritative: terms.lookup === 'authoritative' }]),
);

/** What there is to judge a schedule by, as of any other round. */
export async function readHistory(schedule: Schedule, stage: Stage, times: HistoryTimes): Promise<History> {
  const read = async (text: string) => (await stage.owner.query(text)).rows;
  const [events, intents, outbox] = await Promise.all(Object.values(statements).map(read));
  const database = { events, intents, outbox, deadMessages: [], sessions: [] } as unknown as DatabaseDump;
  const published = [...schedule.bells.published.values()].filter(({ intentId }) => intentId !== '');
  return {
    meta: {
      name: 'schedule',
      seed: 0,
      ...times,
      boundMs: Number.POSITIVE_INFINITY,
      tools: promises,
      permanent: [],
      excuses: { streamsLost: false, beyondLimits: [], silentTools: [] },
    },
    clients: schedule.agents.entries,
    ledger: schedule.upstream.ledger,
    faults: [],
    database,
    bus: { streams: [], consumers: [], published },
    processes: [],
  };
}

export type HistoryTimes = Pick<History['meta'], 'startedAt' | 'healedAt' | 'frozenAt'>;
