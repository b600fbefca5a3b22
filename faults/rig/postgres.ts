import type { Machine } from '../machine.js';
import type { BreakablePostgres } from './installation.js';

export interface PostgresOptions {
  readonly machine: Machine;
  /** Where the log goes, `postgres.log`; the data is below `machine.postgresHome`. */
  readonly dir: string;
}

/** A PostgreSQL of its own, synced and with a migrated database, that can be broken. */
export interface RigPostgres extends BreakablePostgres {
  /** On 127.0.0.1; the same over restarts. */
  readonly port: number;
  /** May do everything; migrations and the rig connect so. */
  readonly ownerUrl: string;
  /** As services connect. */
  readonly appUrl: string;
  /** Ends it, whatever state it is in, and removes the data. */
  close(): Promise<void>;
}

export type StartPostgres = (options: PostgresOptions) => Promise<RigPostgres>;

/** Starts one; resolves when it takes statements. */
export const startPostgres: StartPostgres = () => Promise.reject(new Error('PostgreSQL of the rig is not built yet'));
