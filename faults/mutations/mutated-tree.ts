import { execFile } from 'node:child_process';
import { cp, mkdir, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Mutant } from './mutants.js';

const run = promisify(execFile);

/** What a build and a run of the rig need, of the root of the project. */
const needed = [
  'apps',
  'bench',
  'bin',
  'examples',
  'faults',
  'libs',
  'migrations',
  'test',
  '.swcrc',
  'nest-cli.json',
  'package.json',
  'tsconfig.json',
];
const buildLimitMs = 240_000;

/**
 * A copy of the sources at `root` in `dir`, with the mutant planted (null: none) and built. What was in `dir` is gone.
 *
 * @throws when the mutant cannot be planted any more, or does not compile
 */
export async function makeTree(root: string, dir: string, mutant: Mutant | null, signal: AbortSignal): Promise<void> {
  await rm(dir, { recursive: true, force: true });
  await mkdir(dir, { recursive: true });
  const installed = (file: string) => path.relative(root, file).split(path.sep).includes('node_modules');
  for (const name of needed) {
    await cp(path.join(root, name), path.join(dir, name), { recursive: true, filter: (file) => !installed(file) });
  }
  await symlink(path.join(root, 'node_modules'), path.join(dir, 'node_modules'));
  if (mutant !== null) await plant(mutant, dir);
  const nest = path.join('node_modules', '@nestjs', 'cli', 'bin', 'nest.js');
  const options = { cwd: dir, timeout: buildLimitMs, signal };
  for (const args of [[nest, 'build', '--all', '-b', 'swc'], [path.join('bin', 'bundle.mjs')]]) {
    await run(process.execPath, args, options).catch((error: Failed) => {
      throw new Error(`the copy does not build: ${lastLines(error.stderr || error.message)}`);
    });
  }
}

type Failed = Error & { readonly stderr?: string };

/** @throws when the patch does not fit the sources in `dir` */
export async function plant({ name, file }: Mutant, dir: string): Promise<void> {
  // Inside of a clone git takes paths from the root of that, and passes over in silence what lies elsewhere.
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: path.dirname(path.resolve(dir)) };
  await run('git', ['apply', file], { cwd: dir, env }).catch((error: Failed) => {
    throw new Error(`${name} cannot be planted: ${error.message}`);
  });
}

export function lastLines(text: string, count = 5): string {
  return text.trim().split('\n').slice(-count).join('\n');
}
