import type { Intent } from '@intendant/intent';
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { Changes } from './changes.js';
import { type Connection, type ConnectionOptions, connect } from './connection.js';
import { DeadMessages } from './dead-messages.js';
import { Decisions } from './decisions.js';
import { Door, type DoorOptions } from './door.js';
import { Grants } from './grants.js';
import { Outbox } from './outbox.js';
import { OutcomeWaiter } from './outcome-waiter.js';
import { Pauses } from './pauses.js';
import { IntentReader } from './reader.js';
import { Receipts } from './receipts.js';
import { RunLog } from './run-log.js';
import { Runs } from './runs.js';
import { Sweeps } from './sweeps.js';
import { ToolContracts } from './tool-contracts.js';
import { type Difference, verifyReadModel } from './verify.js';

/** PostgreSQL, as the services see it. */
export class Store {
  readonly door: Door;
  readonly intents: IntentReader;
  readonly decisions: Decisions;
  readonly outcomes: OutcomeWaiter;
  readonly changes: Changes;
  readonly runLog: RunLog;
  readonly outbox: Outbox;
  readonly sweeps: Sweeps;
  readonly runs: Runs;
  readonly deadMessages: DeadMessages;
  readonly toolContracts: ToolContracts;
  readonly receipts: Receipts;
  readonly pauses: Pauses;
  readonly grants: Grants;

  private readonly pool: Pool;
  private readonly dataSource: DataSource;

  private constructor({ pool, dataSource }: Connection, options: DoorOptions) {
    this.pool = pool;
    this.dataSource = dataSource;
    this.intents = new IntentReader(pool, dataSource);
    this.decisions = new Decisions(pool);
    this.outcomes = new OutcomeWaiter(this.intents);
    this.changes = new Changes(pool);
    this.runLog = new RunLog(pool);
    this.outbox = new Outbox(pool, options.publish);
    this.door = new Door(pool, this.outbox, options, (intents) => this.tell(intents));
    this.sweeps = new Sweeps(pool, this.outbox);
    this.runs = new Runs(pool);
    this.deadMessages = new DeadMessages(dataSource);
    this.toolContracts = new ToolContracts(dataSource);
    this.receipts = new Receipts(pool);
    this.pauses = new Pauses(pool);
    this.grants = new Grants(pool);
  }

  /** @throws StoreUnusable with what is wrong and what to do. */
  static async open(connection: ConnectionOptions, options: DoorOptions = {}): Promise<Store> {
    return new Store(await connect(connection), options);
  }

  /** These have an outcome now, committed here. Returns those that nobody here waited for. */
  private tell(intents: readonly Intent[]): Intent[] {
    this.changes.notify(intents.map(({ proposal }) => proposal.intentId));
    return this.outcomes.tell(intents);
  }

  /** Round trip to the database; throws when there is none. */
  async ping(): Promise<void> {
    await this.pool.query({ text: 'SELECT 1' });
  }

  /** Where the read model differs from what the log says; empty when all is well. */
  verify(): Promise<Difference[]> {
    return verifyReadModel(this.dataSource);
  }

  async close(): Promise<void> {
    await this.outbox.flush();
    if (!this.dataSource.isInitialized) return;
    await Promise.all([this.pool.end(), this.dataSource.destroy()]);
  }
}
