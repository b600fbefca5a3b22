import { runNested } from './nested-command.mjs';
import { say } from './progress.mjs';

/**
 * Runs the short bench that guards the ratios, on servers of its own: those of the tests do not sync, and that would
 * be to the advantage of whoever commits most. Returns `{ passed, failures, skipped }` as the tests do; a machine that is
 * too busy to judge on counts as skipped.
 */
export async function runGuard(session, natsBinary) {
  const why = whyNot(session.settings);
  if (why) {
    say(`bench: skipped, ${why}`);
    return { passed: 0, failures: [], skipped: 1 };
  }
  say('bench: starting');
  const bench = { name: 'guard', args: ['bench.mjs', '--guard'], natsBinary, boundMs: 180_000 };
  const { status, report } = await runNested(session, bench);
  if (status !== 0) return { passed: 0, failures: ['bench: the guard, see above'], skipped: 0 };
  const judged = report?.verdict === 'kept';
  return { passed: Number(judged), failures: [], skipped: Number(!judged) };
}

function whyNot({ INTENDANT_TEST_DATABASE_URL }) {
  if (process.platform !== 'linux') return 'CPU time is read from /proc, which only Linux has';
  if (INTENDANT_TEST_DATABASE_URL)
    return 'it needs a PostgreSQL of its own, and INTENDANT_TEST_DATABASE_URL names another';
  return undefined;
}
