import { createHash } from 'node:crypto';
import type { ErrorObject, Session } from '@intendant/contracts';
import { newId } from '@intendant/runtime';
import { type DataSource, type FindOptionsWhere, IsNull, LessThan } from 'typeorm';
import { DeadMessageRow } from './entities.js';
import { answering } from './errors.js';

export interface DeadMessage {
  readonly id: string;
  readonly tenant: string;
  readonly subject: string;
  /** The verified sender; null when nobody could say who sent it. */
  readonly session: Session | null;
  /** The step that was said beside it, which it has to be replayed under; null: none was. */
  readonly stepId: string | null;
  readonly error: ErrorObject;
  readonly receivedAt: string;
  readonly replayedAt: string | null;
  readonly intentId: string | null;
  readonly dismissal: Dismissal | null;
}

/** An operator's word that nothing more is to be done about a message. */
export interface Dismissal {
  readonly at: string;
  readonly by: string;
  readonly reason: string;
}

/** With its bytes, which lists leave out. */
export interface WholeDeadMessage extends DeadMessage {
  readonly payload: Uint8Array;
}

/** A message as it came over the bus. */
export interface ReceivedMessage {
  readonly subject: string;
  readonly payload: Uint8Array;
  /** What it was sent with, verified or not. Never stored; it keeps messages of different senders apart. */
  readonly credential: string;
  /** The step beside it, whether it can be one or not. */
  readonly stepId?: string | null;
}

/** No step is as long, so what is cut stays none. */
const longestStep = 200;

/** Submissions that could not be admitted and had nobody to answer to. Seen by operators, never dropped. */
export class DeadMessages {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Keeps the message; delivered or sent again by the same sender, it is the same one. Where that one was replayed or
   * dismissed, it is open again: what comes after that is news.
   */
  async keep(
    { subject, payload, credential, stepId = null }: ReceivedMessage,
    session: Session | null,
    error: ErrorObject,
  ): Promise<void> {
    // No text holds that character, and a step with it is none either way.
    const step = stepId?.replaceAll('\0', '\u{fffd}').slice(0, longestStep) ?? null;
    const beside = step === null ? '' : `${step}\0`;
    const digest = createHash('sha256').update(`${subject}\0${credential}\0${beside}`).update(payload).digest('hex');
    const tenant = session?.tenant ?? subject.split('.').at(-1);
    await this.query(
      `INSERT INTO dead_messages (id, digest, tenant, subject, payload, session, error, step_id)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
       ON CONFLICT (digest) DO UPDATE
       SET tenant = EXCLUDED.tenant, session = EXCLUDED.session, error = EXCLUDED.error,
           received_at = EXCLUDED.received_at, replayed_at = NULL, replayed_by = NULL, intent_id = NULL,
           dismissed_at = NULL, dismissed_by = NULL, dismiss_reason = NULL
       WHERE dead_messages.intent_id IS NOT NULL OR dead_messages.dismissed_at IS NOT NULL`,
      [
        newId(),
        digest,
        tenant,
        subject,
        Buffer.from(payload),
        session && JSON.stringify(session),
        JSON.stringify(error),
        step,
      ],
    );
  }

  /** Newest first; only those neither replayed into an intent nor dismissed. Undefined `tenant`: of all. */
  async list(filter: {
    limit: number;
    tenant?: string | undefined;
    before?: string | undefined;
  }): Promise<DeadMessage[]> {
    const { limit, tenant, before } = filter;
    const where: FindOptionsWhere<DeadMessageRow> = { intentId: IsNull(), dismissedAt: IsNull() };
    if (tenant !== undefined) where.tenant = tenant;
    if (before !== undefined) where.id = LessThan(before);
    const rows = await answering(() => this.repository.find({ where, order: { id: 'DESC' }, take: limit }));
    return rows.map(toMessage);
  }

  async find(id: string): Promise<WholeDeadMessage | null> {
    const row = await answering(() =>
      this.repository.createQueryBuilder('m').addSelect('m.payload').where({ id }).getOne(),
    );
    return row === null ? null : { ...toMessage(row), payload: row.payload ?? new Uint8Array() };
  }

  async markReplayed(id: string, by: string, intentId: string): Promise<void> {
    await this.query(
      'UPDATE dead_messages SET replayed_at = clock_timestamp(), replayed_by = $2, intent_id = $3 WHERE id = $1',
      [id, by, intentId],
    );
  }

  /** True where it was open and is dismissed now; false where there is nothing open to dismiss. */
  async dismiss(id: string, by: string, reason: string): Promise<boolean> {
    const { affected } = await answering(() =>
      this.repository
        .createQueryBuilder()
        .update()
        .set({ dismissedAt: () => 'clock_timestamp()', dismissedBy: by, dismissReason: reason })
        .where({ id, intentId: IsNull(), dismissedAt: IsNull() })
        .execute(),
    );
    return affected === 1;
  }

  private query(text: string, values: unknown[]): Promise<unknown> {
    return answering(() => this.dataSource.query(text, values));
  }

  private get repository() {
    return this.dataSource.getRepository(DeadMessageRow);
  }
}

function toMessage(row: DeadMessageRow): DeadMessage {
  const { dismissedAt, dismissedBy, dismissReason } = row;
  return {
    id: row.id,
    tenant: row.tenant,
    subject: row.subject,
    session: row.session as Session | null,
    stepId: row.stepId,
    error: row.error as ErrorObject,
    receivedAt: row.receivedAt.toISOString(),
    replayedAt: row.replayedAt?.toISOString() ?? null,
    intentId: row.intentId,
    dismissal: dismissedAt && { at: dismissedAt.toISOString(), by: dismissedBy ?? '', reason: dismissReason ?? '' },
  };
}
