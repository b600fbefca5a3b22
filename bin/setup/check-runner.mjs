import fs from 'node:fs';
import { say } from './progress.mjs';
import { StepFailure } from './step-failure.mjs';

const boundMs = 300_000;

/**
 * Runs one check, `{ name, args }`, in a process of its own and shows its output only when it fails.
 * Returns the failure as a line, or null; a failure does not stop the others.
 */
export async function runCheck(session, { name, args }) {
  const child = session.processes.start({ name: name.replaceAll(' ', '-'), command: process.execPath, args });
  const timer = setTimeout(() => void session.processes.stop(child), boundMs);
  await child.exited;
  clearTimeout(timer);
  if (session.processes.stopping) return stopped(name);
  const passed = child.status === 0;
  say(`${passed ? '✓' : '✗'} ${name}`);
  if (!passed) console.log(fs.readFileSync(child.logFile, 'utf8').trimEnd());
  return passed ? null : `check: ${name}`;
}

const stopped = (name) => `check: ${name} was stopped`;

/** Runs a step of the launcher as a check, with the same result. */
export async function runStepAsCheck(session, name, work) {
  try {
    await work();
    say(`✓ ${name}`);
    return null;
  } catch (error) {
    if (session.processes.stopping) return stopped(name);
    console.log(error instanceof StepFailure ? `${error}` : `✗ ${name}: ${error.message}`);
    return `check: ${name}`;
  }
}

/** Runs `tasks` (functions) with at most `limit` at a time; returns their results in order. */
export async function inParallel(limit, tasks) {
  const results = [];
  let next = 0;
  const worker = async () => {
    while (next < tasks.length) {
      const index = next;
      next += 1;
      results[index] = await tasks[index]();
    }
  };
  await Promise.all(Array.from({ length: limit }, worker));
  return results;
}
