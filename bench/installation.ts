import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The private servers the benchmark runs on, as the launcher describes them in its run file. */
export interface Installation {
  readonly natsUrl: string;
  readonly natsPid: number;
  /** As the role of the services. */
  readonly databaseUrl: string;
  /** As the owner; may create databases. */
  readonly ownerDatabaseUrl: string;
  readonly postgresPid: number;
  /** Folder of the private servers: what a system writes below it is on the same disk as theirs. */
  readonly stateDir: string;
}

/** @throws when there is no run file, or its servers are not private: their CPU time could not be told apart. */
export function readInstallation(file: string | undefined): Installation {
  if (!file) throw new Error('RUN_FILE is not set: run the benchmark with `npm run bench`');
  const { natsUrl, natsPid, databaseUrl, ownerDatabaseUrl, postgresPid } = JSON.parse(
    readFileSync(file, 'utf8'),
  ) as Installation;
  if (!natsPid || !postgresPid) {
    throw new Error(
      'the benchmark counts the CPU time of PostgreSQL and NATS and needs servers of its own: unset INTENDANT_DATABASE_URL and INTENDANT_NATS_URL',
    );
  }
  return { natsUrl, natsPid, databaseUrl, ownerDatabaseUrl, postgresPid, stateDir: path.dirname(file) };
}
