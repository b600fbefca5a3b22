#!/usr/bin/env node
// Everything that must hold, in one command: format, lint, import rules, types, build, tests, a
// short run of the fault rig and a short bench. Arguments go to vitest; then those two are left out.
import path from 'node:path';
import { checks } from './checks/checks.mjs';
import { ensureBuild } from './setup/build.mjs';
import { inParallel, runCheck, runStepAsCheck } from './setup/check-runner.mjs';
import { ensureCredentials } from './setup/credentials.mjs';
import { ensureDependencies } from './setup/dependencies.mjs';
import { runGuard } from './setup/guard.mjs';
import { ensureNatsBinary } from './setup/nats-binary.mjs';
import { home } from './setup/paths.mjs';
import { startPostgres } from './setup/postgres.mjs';
import { say } from './setup/progress.mjs';
import { runSession } from './setup/session.mjs';
import { withoutOurs } from './setup/settings.mjs';
import { runShortFaults } from './setup/short-faults.mjs';
import { runVitest } from './setup/vitest.mjs';

/** The database and the nats-server the tests use; a database server of the user's choice replaces the private one. */
async function prepareServers(session, installed) {
  const { INTENDANT_TEST_DATABASE_URL: given } = session.settings;
  const password = ensureCredentials(session.stateDir).postgresPassword;
  const [database, natsBinary] = await Promise.all([
    given ? { url: given } : installed.then(() => startPostgres(session, { password, throwAway: true })),
    ensureNatsBinary(session),
  ]);
  return {
    ...withoutOurs(session.settings),
    INTENDANT_TEST_DATABASE_URL: database.url,
    INTENDANT_NATS_BIN: natsBinary,
  };
}

/** What counts for a part that was not asked for. */
const notRun = { passed: 0, failures: [], skipped: 0 };

const sum = (parts, name) => parts.reduce((total, part) => total + part[name], 0);

/** The checks run while the servers start, two at a time; the tests run alone, because they watch the clock. */
async function check(session, installed) {
  await installed;
  return inParallel(2, [
    () => runStepAsCheck(session, 'build', () => ensureBuild(session)),
    ...checks.map((each) => () => runCheck(session, each)),
  ]);
}

await runSession({
  command: 'npm test',
  stateDir: path.join(home, 'test'),
  main: async (session) => {
    const installed = ensureDependencies(session);
    const [env, results] = await Promise.all([prepareServers(session, installed), check(session, installed)]);
    say('tests: starting');
    const args = process.argv.slice(2);
    const tests = await runVitest(session, args, env);
    if (session.processes.stopping) return 1;
    const faults = args.length > 0 ? notRun : await runShortFaults(session, env.INTENDANT_NATS_BIN);
    if (session.processes.stopping) return 1;
    const guard = args.length > 0 ? notRun : await runGuard(session, env.INTENDANT_NATS_BIN);
    if (session.processes.stopping) return 1;
    const ofChecks = results.filter((each) => each !== null);
    const ran = { passed: results.length - ofChecks.length, failures: ofChecks, skipped: 0 };
    const parts = [ran, tests, faults, guard];
    const failures = parts.flatMap((part) => part.failures);
    const [passed, skipped] = [sum(parts, 'passed'), sum(parts, 'skipped')];
    session.atEnd = () => {
      // What failed is far above by now.
      for (const failure of failures) console.log(`✗ ${failure}`);
      console.log(`${passed} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
    };
    return failures.length === 0 && passed > 0 ? 0 : 1;
  },
});
