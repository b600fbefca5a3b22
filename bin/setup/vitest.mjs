import fs from 'node:fs';
import path from 'node:path';
import { readJson, root } from './paths.mjs';

const boundMs = 1_200_000;

/**
 * Runs vitest with its own output shown and counts from its JSON report.
 * Returns `{ passed, failed, skipped }`; a run that ended badly always has a failure, whatever the report says.
 */
export async function runVitest(session, args, env) {
  const report = path.join(session.stateDir, 'vitest.json');
  fs.rmSync(report, { force: true });
  const child = session.processes.start({
    name: 'vitest',
    command: process.execPath,
    args: [
      path.join(root, 'node_modules', 'vitest', 'vitest.mjs'),
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...args,
    ],
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const timer = setTimeout(() => void session.processes.stop(child), boundMs);
  await child.exited;
  clearTimeout(timer);
  const counts = count(readJson(report));
  if (child.status !== 0 && counts.failed === 0) counts.failed = 1;
  return counts;
}

function count(report) {
  if (!report) return { passed: 0, failed: 1, skipped: 0 };
  // A file that could not be loaded has no tests to count, yet it failed.
  const broken = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((each) => each.status === 'failed'),
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}
