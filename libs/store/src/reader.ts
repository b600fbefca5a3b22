import type { In, Intent, IntentEvent, Proposal } from '@intendant/intent';
import { Coalescer } from '@intendant/runtime';
import type { Pool } from 'pg';
import type { DataSource, FindOptionsWhere } from 'typeorm';
import { LessThan } from 'typeorm';
import { IntentRow } from './entities.js';
import { answering } from './errors.js';
import { findUnjudged, loadAwaiting } from './sql/awaiting.js';
import { cancelRequested } from './sql/cancel-requested.js';
import { countSame } from './sql/count-same.js';
import { loadStreams, type StreamRow } from './sql/load-streams.js';
import { stillAuthorized } from './sql/still-authorized.js';
import { foldRows } from './stream.js';

export interface IntentFilter {
  readonly tenant?: string | undefined;
  readonly runId?: string | undefined;
  readonly state?: Intent['state'] | undefined;
  readonly tool?: string | undefined;
  /** Only those of the sandbox, or only real ones. */
  readonly sandbox?: boolean | undefined;
  /** Only intents to which nothing has happened since this time, in ms since the epoch; a lookup counts as something. */
  readonly olderThan?: number | undefined;
  /** Id of the last intent of the page before. */
  readonly before?: string | undefined;
  readonly limit: number;
}

export interface IntentListing {
  readonly intentId: string;
  readonly tenant: string;
  readonly runId: string;
  readonly stepId: string | null;
  readonly tool: string;
  readonly effect: string;
  /** True of an intent of the sandbox, which never counts as the real effect. */
  readonly sandbox: boolean;
  readonly status: string;
  readonly attempts: number;
  readonly reason: string | null;
  readonly recordedAt: string;
  /** When it entered its present state. */
  readonly since: string;
}

export interface RecordedEvent {
  readonly version: number;
  readonly at: string;
  readonly event: IntentEvent;
}

export interface AwaitingFilter {
  readonly tenant?: string | undefined;
  readonly tool?: string | undefined;
  /** Id of the last intent of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Reads intents: states folded from the log, lists from the read model. */
export class IntentReader {
  private readonly loads: Coalescer<string, Intent | Error | null>;

  constructor(
    private readonly pool: Pool,
    private readonly dataSource: DataSource,
  ) {
    this.loads = new Coalescer((ids) => this.loadMany(ids), 256, 2);
  }

  /** The present state, or null where there is no such intent. Many calls at once share one query. */
  async load(intentId: string): Promise<Intent | null> {
    const intent = await this.loads.request(intentId);
    if (intent instanceof Error) throw intent;
    return intent;
  }

  private async loadMany(ids: readonly string[]): Promise<(Intent | Error | null)[]> {
    const { rows } = await answering(() =>
      this.pool.query<StreamRow>({ ...loadStreams, values: [[...new Set(ids)], []] }),
    );
    const streams = foldRows(rows);
    return ids.map((id) => {
      const stream = streams.get(id);
      return stream instanceof Error ? stream : (stream?.intent ?? null);
    });
  }

  /** Those that still wait for an attempt; a look at the read model, much cheaper than loading them. */
  async stillAuthorized(intentIds: readonly string[]): Promise<Set<string>> {
    const { rows } = await answering(() =>
      this.pool.query<{ id: string }>({ ...stillAuthorized, values: [intentIds] }),
    );
    return new Set(rows.map((row) => row.id));
  }

  /** Those that somebody asked to cancel while they were on the wire. */
  async cancelRequested(intentIds: readonly string[]): Promise<string[]> {
    const { rows } = await answering(() =>
      this.pool.query<{ id: string }>({ ...cancelRequested, values: [intentIds] }),
    );
    return rows.map((row) => row.id);
  }

  /** The intent that was recorded under this key, or null. */
  async findByKey(key: string): Promise<Intent | null> {
    const { rows } = await answering(() => this.pool.query<StreamRow>({ ...loadStreams, values: [[], [key]] }));
    const [stream] = foldRows(rows).values();
    if (stream instanceof Error) throw stream;
    return stream?.intent ?? null;
  }

  /** How often the run has made this call without a step, as far as anything was recorded. */
  async countSame({ runId, tool, fingerprint, sandbox }: Proposal): Promise<number> {
    const values = [runId, tool, fingerprint, sandbox];
    const { rows } = await answering(() => this.pool.query<{ count: number }>({ ...countSame, values }));
    return rows[0]?.count ?? 0;
  }

  /** Everything that happened to one intent, in order; empty where there is no such intent. */
  async history(intentId: string): Promise<RecordedEvent[]> {
    const { rows } = await answering(() => this.pool.query<StreamRow>({ ...loadStreams, values: [[intentId], []] }));
    return rows
      .filter((row) => row.intent_id !== null)
      .map((row) => ({
        version: row.version,
        at: new Date(row.at).toISOString(),
        event: { type: row.type, ...row.data } as IntentEvent,
      }));
  }

  /** Those that wait for people, the oldest first, by page. What cannot be read is left out. */
  async awaiting({ tenant, tool, after, limit }: AwaitingFilter): Promise<In<'awaiting_approval'>[]> {
    const values = [tenant ?? null, tool ?? null, after ?? null, limit];
    const { rows } = await answering(() => this.pool.query<StreamRow>({ ...loadAwaiting, values }));
    return [...foldRows(rows).values()].flatMap((stream) =>
      stream instanceof Error || stream.intent.state !== 'awaiting_approval' ? [] : [stream.intent],
    );
  }

  /**
   * Ids of those that wait for people by the demands of other policy files than the version `policy`, which they are bound to,
   * and by one of these tool files; the oldest first.
   *
   * @param after id of the last one of the page before
   */
  async unjudged(policy: string, toolFiles: readonly string[], limit: number, after?: string): Promise<string[]> {
    const values = [policy, toolFiles, limit, after ?? null];
    const { rows } = await answering(() => this.pool.query<{ id: string }>({ ...findUnjudged, values }));
    return rows.map(({ id }) => id);
  }

  /** Newest first, by page. */
  async list(filter: IntentFilter): Promise<IntentListing[]> {
    const where: FindOptionsWhere<IntentRow> = {};
    if (filter.tenant !== undefined) where.tenant = filter.tenant;
    if (filter.runId !== undefined) where.runId = filter.runId;
    if (filter.state !== undefined) where.state = filter.state;
    if (filter.tool !== undefined) where.tool = filter.tool;
    if (filter.sandbox !== undefined) where.sandbox = filter.sandbox;
    if (filter.before !== undefined) where.id = LessThan(filter.before);
    if (filter.olderThan !== undefined) where.since = LessThan(new Date(filter.olderThan));
    const rows = await answering(() =>
      this.dataSource.getRepository(IntentRow).find({ where, order: { id: 'DESC' }, take: filter.limit }),
    );
    return rows.map((row) => ({
      intentId: row.id,
      tenant: row.tenant,
      runId: row.runId,
      stepId: row.stepId,
      tool: row.tool,
      effect: row.effect,
      sandbox: row.sandbox,
      status: row.state,
      attempts: row.attempts,
      reason: row.reason,
      recordedAt: row.recordedAt.toISOString(),
      since: row.since.toISOString(),
    }));
  }
}
