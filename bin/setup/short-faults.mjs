import { runNested } from './nested-command.mjs';
import { say } from './progress.mjs';

/**
 * The same each time, so that the same sources have the same verdict: round 10 cuts connections and crashes PostgreSQL, round
 * 11 turns NATS back. To look for more is what `npm run faults` is for.
 */
const seed = '10';

/** Runs the short part of the fault rig. Returns `{ passed, failures, skipped }`, one per case. */
export async function runShortFaults(session, natsBinary) {
  say('faults: starting');
  const rig = { name: 'short-faults', args: ['faults.mjs', '--short', '--seed', seed], natsBinary, boundMs: 420_000 };
  const { status, report } = await runNested(session, rig);
  const cases = report?.cases ?? [];
  const failures = cases
    .filter(({ violations, broken }) => violations.length > 0 || broken !== undefined)
    .map(({ layer, name, violations, broken }) => `faults ${layer} ${name}: ${broken ?? violations[0].message}`);
  const passed = cases.length - failures.length;
  // A rig that ended badly always has a failure, whatever its report says.
  if (status !== 0 && failures.length === 0) failures.push('faults: the rig ended badly');
  return { passed, failures, skipped: 0 };
}
