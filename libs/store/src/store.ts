import type { DataSource } from 'typeorm';
import { type ConnectionOptions, connect, poolOf } from './connection.js';
import { DeadMessages } from './dead-messages.js';
import { Door, type DoorOptions } from './door.js';
import { Outbox } from './outbox.js';
import { OutcomeWaiter } from './outcome-waiter.js';
import { IntentReader } from './reader.js';
import { Runs } from './runs.js';
import { Sweeps } from './sweeps.js';
import { ToolContracts } from './tool-contracts.js';
import { type Difference, verifyReadModel } from './verify.js';

/** PostgreSQL, as the services see it. */
export class Store {
  readonly door: Door;
  readonly intents: IntentReader;
  readonly outcomes: OutcomeWaiter;
  readonly outbox: Outbox;
  readonly sweeps: Sweeps;
  readonly runs: Runs;
  readonly deadMessages: DeadMessages;
  readonly toolContracts: ToolContracts;

  private constructor(
    private readonly dataSource: DataSource,
    options: DoorOptions,
  ) {
    const pool = poolOf(dataSource);
    this.intents = new IntentReader(pool, dataSource);
    this.outcomes = new OutcomeWaiter(this.intents);
    this.door = new Door(pool, options, (intents) => this.outcomes.tell(intents));
    this.outbox = new Outbox(pool);
    this.sweeps = new Sweeps(pool);
    this.runs = new Runs(pool);
    this.deadMessages = new DeadMessages(dataSource);
    this.toolContracts = new ToolContracts(dataSource);
  }

  /** @throws StoreUnusable with what is wrong and what to do. */
  static async open(connection: ConnectionOptions, options: DoorOptions = {}): Promise<Store> {
    return new Store(await connect(connection), options);
  }

  /** Round trip to the database; throws when there is none. */
  async ping(): Promise<void> {
    await poolOf(this.dataSource).query('SELECT 1');
  }

  /** Where the read model differs from what the log says; empty when all is well. */
  verify(): Promise<Difference[]> {
    return verifyReadModel(this.dataSource);
  }

  async close(): Promise<void> {
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }
}
