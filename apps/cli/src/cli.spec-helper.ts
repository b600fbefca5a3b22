import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { run } from './program.js';

export interface Ran {
  readonly status: number;
  readonly out: string[];
  readonly err: string[];
}

/** A command line of its own: an empty directory, no environment but the given one, captured output. */
export function commandLine(env: Readonly<Record<string, string>> = {}) {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'intendant-cli-'));
  const reconciler = path.join(directory, 'reconciler.mjs');
  const ran = async (argv: readonly string[], input = ''): Promise<Ran> => {
    const out: string[] = [];
    const err: string[] = [];
    const world = {
      ...{ env, directory, version: '1.2.3', reconciler, callWorker: reconciler, input: async () => input },
      ...{ out: (line: string) => void out.push(line), err: (line: string) => void err.push(line) },
    };
    return { status: await run(argv, world), out, err };
  };
  return { directory, reconciler, run: ran, remove: () => rmSync(directory, { recursive: true }) };
}
