import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { root } from '../rig/root.js';
import { titlePattern } from './story.js';

/** What became of one test. */
export interface TestResult {
  /** With the titles of the suites around it. */
  readonly title: string;
  readonly status: 'passed' | 'failed' | 'not_run';
  /** What the test runner says about a failure, with its place. */
  readonly failure: string | null;
}

export interface FileResult {
  readonly tests: readonly TestResult[];
  /** What kept tests from being run, such as a stack that did not start; null when nothing did. */
  readonly problem: string | null;
  readonly seconds: number;
}

export interface TestRun {
  /** Relative to the root. */
  readonly file: string;
  /** Titles as the sources have them; left out: all of the file. */
  readonly titles?: readonly string[];
  /** A directory of its own. */
  readonly dir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

interface VitestReport {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[] | null;
    }[];
  }[];
}

/** Runs tests of one file with vitest; rejects when vitest does not say what became of them. */
export async function runTests({ file, titles, dir, env, signal }: TestRun): Promise<FileResult> {
  await mkdir(dir, { recursive: true });
  const reportFile = path.join(dir, 'vitest.json');
  const logFile = path.join(dir, 'vitest.log');
  const only = titles?.map((title) => titlePattern(title).source).join('|');
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    [
      path.join(root, 'node_modules', 'vitest', 'vitest.mjs'),
      ...['run', file, '--reporter=json', `--outputFile.json=${reportFile}`],
      // A dozen services may have to start.
      ...['--hookTimeout', '180000'],
      ...(only === undefined ? [] : ['--testNamePattern', only]),
    ],
    { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const stop = () => void child.kill('SIGTERM');
  signal.addEventListener('abort', stop, { once: true });
  const log = createWriteStream(logFile);
  const logged = Promise.all([child.stdout, child.stderr].map((from) => pipeline(from, log, { end: false })));
  const [code] = await once(child, 'exit');
  await logged.finally(() => log.end());
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  const report = await readFile(reportFile, 'utf8').catch(() => {
    throw new Error(`vitest ended with ${code} and without a report for ${file}: see ${logFile}`);
  });
  return { ...read(JSON.parse(report) as VitestReport), seconds: (performance.now() - startedAt) / 1_000 };
}

function read({ testResults }: VitestReport): Omit<FileResult, 'seconds'> {
  const tests = testResults.flatMap(({ assertionResults }) =>
    assertionResults.map(({ fullName, status, failureMessages }): TestResult => {
      if (status === 'passed') return { title: fullName, status, failure: null };
      if (status !== 'failed') return { title: fullName, status: 'not_run', failure: null };
      return { title: fullName, status, failure: failureMessages?.join('\n') || 'it failed' };
    }),
  );
  const problems = testResults.flatMap(({ message }) => (message === '' ? [] : [message]));
  return { tests, problem: problems.length === 0 ? null : problems.join('\n') };
}
