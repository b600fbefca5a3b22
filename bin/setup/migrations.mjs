import path from 'node:path';
import { root } from './paths.mjs';
import { step } from './progress.mjs';

/** Brings the database to the version of the code and gives the services' role its rights and its password. */
export function applyMigrations(session, { ownerUrl, appRole, appPassword, environment }) {
  return step(
    'migrations',
    async (note) => {
      const env = { ...environment, INTENDANT_MIGRATION_DATABASE_URL: ownerUrl, INTENDANT_APP_ROLE: appRole };
      if (appPassword) env.INTENDANT_APP_PASSWORD = appPassword;
      await session.processes.run({
        name: 'migrations',
        command: process.execPath,
        args: ['--enable-source-maps', path.join(root, 'dist', 'migrations', 'main.js')],
        env,
        boundMs: 120_000,
      });
      note('applied');
    },
    'check that the database is reachable and that its account may create tables and roles',
  );
}
