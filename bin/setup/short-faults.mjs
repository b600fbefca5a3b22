import { runNested } from './nested-command.mjs';
import { say } from './progress.mjs';

/** Runs the short part of the fault rig. Returns `{ passed, failed, skipped }`, one per case. */
export async function runShortFaults(session, natsBinary) {
  say('faults: starting');
  const rig = { name: 'short-faults', args: ['faults.mjs', '--short'], natsBinary, boundMs: 420_000 };
  const { status, report } = await runNested(session, rig);
  const cases = report?.cases ?? [];
  const failed = cases.filter(({ violations, broken }) => violations.length > 0 || broken !== undefined).length;
  // A rig that ended badly always has a failure, whatever its report says.
  return { passed: cases.length - failed, failed: status !== 0 && failed === 0 ? 1 : failed, skipped: 0 };
}
