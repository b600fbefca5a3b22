import path from 'node:path';
import { ensureBuild } from './build.mjs';
import { credentialEnvironment, ensureCredentials } from './credentials.mjs';
import { ensureDatabase } from './database.mjs';
import { checkDatabaseSettings, planDatabase } from './database-plan.mjs';
import { ensureDependencies } from './dependencies.mjs';
import { applyMigrations } from './migrations.mjs';
import { ensureNatsBinary } from './nats-binary.mjs';
import { startNats } from './nats-server.mjs';
import { root } from './paths.mjs';
import { startPostgres } from './postgres.mjs';
import { forServices } from './settings.mjs';

/**
 * Everything below the services: dependencies, build, PostgreSQL with a migrated database, NATS. Servers named in the
 * settings are used as they are. Returns `{ credentials, ownerUrl, appUrl, natsUrl, postgresPid, natsPid, environment }`,
 * the pids only for private servers, `environment` being what every service is started with.
 */
export async function startStack(session, { database = 'intendant', fresh = false } = {}) {
  const { settings } = session;
  checkDatabaseSettings(settings);
  const credentials = ensureCredentials(session.stateDir);
  const installed = ensureDependencies(session);
  const [postgres, nats] = await Promise.all([
    settings.INTENDANT_DATABASE_URL
      ? undefined
      : installed.then(() => privateDatabase(session, credentials, database, fresh)),
    settings.INTENDANT_NATS_URL
      ? undefined
      : ensureNatsBinary(session).then((binary) => startNats(session, binary, { fresh })),
    installed.then(() => ensureBuild(session)),
  ]);
  const plan = planDatabase({ settings, credentials, privateUrl: postgres?.url });
  await applyMigrations(session, { ...plan, environment: forServices(settings) });
  const natsUrl = settings.INTENDANT_NATS_URL ?? nats.url;
  return {
    credentials,
    ownerUrl: plan.ownerUrl,
    appUrl: plan.appUrl,
    natsUrl,
    postgresPid: postgres?.pid,
    natsPid: nats?.pid,
    environment: {
      ...forServices(settings),
      ...credentialEnvironment(credentials, settings),
      INTENDANT_DATABASE_URL: plan.appUrl,
      INTENDANT_NATS_URL: natsUrl,
      INTENDANT_TOOLS_DIR: settings.INTENDANT_TOOLS_DIR ?? path.join(root, 'examples', 'tools'),
      INTENDANT_POLICY_DIR: settings.INTENDANT_POLICY_DIR ?? path.join(root, 'examples', 'policy'),
      // The demo upstream, and whatever else is being developed, is on this machine.
      INTENDANT_EGRESS_PRIVATE: settings.INTENDANT_EGRESS_PRIVATE ?? '127.0.0.0/8,::1/128',
      INTENDANT_HTTP_HOST: settings.INTENDANT_HTTP_HOST ?? '127.0.0.1',
    },
  };
}

async function privateDatabase(session, credentials, name, fresh) {
  const server = await startPostgres(session, { password: credentials.postgresPassword });
  return { url: await ensureDatabase(server.url, name, { fresh }), pid: server.pid };
}
