import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Read-model rows. They stay inside this room; what leaves it are plain values. */
@Entity('intents')
export class IntentRow {
  @PrimaryColumn('text') id: string;
  @Column('text') tenant: string;
  @Column('text', { name: 'run_id' }) runId: string;
  @Column('text', { name: 'step_id', nullable: true }) stepId: string | null;
  @Column('text') tool: string;
  @Column('text') effect: string;
  @Column('boolean') sandbox: boolean;
  @Column('text') state: string;
  @Column('integer') version: number;
  @Column('integer') attempts: number;
  @Column('text', { nullable: true }) reason: string | null;
  @Column('timestamptz', { name: 'recorded_at' }) recordedAt: Date;
  @Column('timestamptz') since: Date;
}

@Entity('dead_messages')
export class DeadMessageRow {
  @PrimaryColumn('text') id: string;
  @Column('text') digest: string;
  @Column('text') tenant: string;
  @Column('text') subject: string;
  @Column('bytea', { select: false }) payload?: Buffer;
  @Column('json', { nullable: true }) session: unknown;
  @Column('json') error: unknown;
  @Column('timestamptz', { name: 'received_at' }) receivedAt: Date;
  @Column('timestamptz', { name: 'replayed_at', nullable: true }) replayedAt: Date | null;
  @Column('text', { name: 'replayed_by', nullable: true }) replayedBy: string | null;
  @Column('text', { name: 'intent_id', nullable: true }) intentId: string | null;
  @Column('timestamptz', { name: 'dismissed_at', nullable: true }) dismissedAt: Date | null;
  @Column('text', { name: 'dismissed_by', nullable: true }) dismissedBy: string | null;
  @Column('text', { name: 'dismiss_reason', nullable: true }) dismissReason: string | null;
  @Column('text', { name: 'step_id', nullable: true }) stepId: string | null;
}

@Entity('tool_contracts')
export class ToolContractRow {
  @PrimaryColumn('text') name: string;
  @PrimaryColumn('integer') version: number;
  @Column('text') digest: string;
  @Column('json') contract: unknown;
}
