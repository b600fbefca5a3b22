import fs from 'node:fs';
import path from 'node:path';
import { readJson, root } from './paths.mjs';

const boundMs = 1_200_000;

/**
 * Runs vitest with its own output shown and counts from its JSON report.
 * Returns `{ passed, failures, skipped }`, the failures as lines; a run that ended badly always has one, whatever the
 * report says.
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
  const results = count(readJson(report));
  if (child.status !== 0 && results.failures.length === 0) results.failures.push('vitest, though every test passed');
  return results;
}

function count(report) {
  if (!report) return { passed: 0, failures: ['vitest, which left no report'], skipped: 0 };
  return {
    passed: report.numPassedTests,
    failures: report.testResults.flatMap(failuresOf),
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

function failuresOf({ name, status, message, assertionResults }) {
  const file = path.relative(root, name);
  const failed = assertionResults.filter((each) => each.status === 'failed');
  // A file that could not be loaded or prepared has no failed test, yet it failed.
  if (failed.length === 0 && status === 'failed') return [`${file}: ${firstLine(message)}`];
  return failed.map(({ fullName, failureMessages }) => `${file}: ${fullName}: ${firstLine(failureMessages[0])}`);
}

function firstLine(text = '') {
  return text.trim().split('\n')[0];
}
