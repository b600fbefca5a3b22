import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));
const preload = new URL('glob-sync.mjs', import.meta.url).href;

/** One thing that a scenario looked at. A `WARNING` is a SHOULD of the specification that is not met. */
export interface Check {
  readonly scenario: string;
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

/** All scenarios for servers that the official suite has. */
export async function scenarioNames(): Promise<string[]> {
  const printed = await conformance(['list', '--server']);
  return [...printed.matchAll(/^ {2}- (\S+) \[/gm)].map(([, name = '']) => name);
}

/** Runs scenarios against a server and returns every check, whatever became of it. */
export async function runScenarios(url: string, ...which: string[]): Promise<Check[]> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'intendant-conformance-'));
  try {
    // Says by its exit status that something failed; here that depends on what.
    await conformance(['server', '--url', url, '--output-dir', folder, ...which]).catch((error) => {
      if (error.code !== 1) throw error;
    });
    const results = await readdir(folder);
    return (await Promise.all(results.map((name) => readChecks(path.join(folder, name))))).flat();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A folder is named `server-<scenario>-<time>`. */
async function readChecks(folder: string): Promise<Check[]> {
  const [, scenario = ''] = /^server-(.*)-\d{4}-\d\d-\d\dT/.exec(path.basename(folder)) ?? [];
  const checks = JSON.parse(await readFile(path.join(folder, 'checks.json'), 'utf8')) as Omit<Check, 'scenario'>[];
  return checks.map((check) => ({ ...check, scenario }));
}

function conformance(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ['--import', preload, program, ...args], (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
  });
}
