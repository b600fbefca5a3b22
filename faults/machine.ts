import { readFileSync } from 'node:fs';

/** What this machine offers to the rig, as the launcher found it. */
export interface Machine {
  /** Directory with `initdb`, `postgres`, `pg_ctl`. */
  readonly postgresBin: string;
  /** PostgreSQL does not run as root: the account it runs under then; null for the own one. */
  readonly postgresAccount: { readonly uid: number; readonly gid: number } | null;
  /** A directory that account can enter, for data directories. */
  readonly postgresHome: string;
  /** nats-server of the version the product is made for. */
  readonly nats: string;
  /** Debian 12's 2.9.10; null where it cannot be had. */
  readonly oldNats: string | null;
  /** Where histories, logs and reports go. */
  readonly stateDir: string;
  /** Of the sources, as `git describe --always --dirty` tells; null outside a clone. */
  readonly commit: string | null;
}

/** @throws when there is no such file: the rig is started by its launcher. */
export function readMachine(file: string | undefined): Machine {
  if (!file) throw new Error('RUN_FILE is not set: run the rig with `npm run faults`');
  return JSON.parse(readFileSync(file, 'utf8')) as Machine;
}
