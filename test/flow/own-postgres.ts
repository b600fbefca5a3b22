import type { TestDatabase } from '@intendant/testing';
import pg from 'pg';
import { machineForSpecs } from '../../faults/rig/machine.spec-helper.js';
import { type RigPostgres, startPostgres } from '../../faults/rig/postgres.js';

/** A server for one file alone, for what cannot be done to a server that others use; synced, and breakable. */
export interface OwnPostgres extends TestDatabase {
  readonly server: RigPostgres;
  /** One more, with nothing in it but the schema. */
  another(): Promise<OwnPostgres>;
}

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const machine = machineForSpecs();
  const start = async (dir: string, last: () => void): Promise<OwnPostgres> => {
    const server = await startPostgres({ machine, dir });
    const connect = async () => {
      const client = new pg.Client({ connectionString: server.ownerUrl });
      await client.connect();
      return client;
    };
    let others = 0;
    return {
      server,
      url: server.appUrl,
      ownerUrl: server.ownerUrl,
      session: connect,
      query: async (text, values) => {
        const client = await connect();
        try {
          return (await client.query(text, values)).rows;
        } finally {
          await client.end();
        }
      },
      another: () => {
        others += 1;
        return start(`${dir}-${others}`, () => undefined);
      },
      drop: async () => {
        await server.close();
        last();
      },
    };
  };
  return start(`${machine.stateDir}/postgres`, () => machine.remove());
}
