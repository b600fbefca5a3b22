import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { exclusively } from './claim.mjs';
import { home, readJson, root, writePrivateFile } from './paths.mjs';
import { say, step } from './progress.mjs';

const dist = path.join(root, 'dist');
const stamp = path.join(home, 'build.json');
const rooms = ['apps', 'libs', 'migrations', 'examples', 'bench', 'faults'];
const files = ['package-lock.json', 'nest-cli.json', 'tsconfig.json', '.swcrc', path.join('bin', 'bundle.mjs')];
const boundMs = 240_000;

/**
 * Builds `dist` unless it is exactly what the last build made of exactly these sources: both sides are compared, so a
 * build by hand, a half build or a removed file never leaves a stale `dist`.
 */
export function ensureBuild(session) {
  const work = async (note) => {
    const sources = hashOf(sourceFiles(), contentOf);
    const last = readJson(stamp);
    if (last?.sources === sources && last.output === hashOf(filesBelow(dist), timesOf)) return note('up to date');
    fs.rmSync(stamp, { force: true });
    // A file whose source is gone must not stay importable.
    fs.rmSync(dist, { recursive: true, force: true });
    await session.processes.run({
      name: 'build',
      label: 'nest build',
      command: process.execPath,
      args: [path.join(root, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js'), 'build', '--all', '-b', 'swc'],
      boundMs,
    });
    await session.processes.run({
      name: 'bundle',
      label: 'bundle',
      command: process.execPath,
      args: [path.join(root, 'bin', 'bundle.mjs')],
      boundMs,
    });
    const output = filesBelow(dist);
    if (output.length === 0) throw new Error('nest build made no files');
    // Sources that changed during the build may be half in it: without a stamp the next run builds again.
    if (hashOf(sourceFiles(), contentOf) === sources) {
      writePrivateFile(stamp, JSON.stringify({ sources, output: hashOf(output, timesOf) }));
    }
    note('built');
  };
  const alone = (note) =>
    exclusively(
      path.join(home, 'build.lock'),
      () => work(note),
      (holder) => say(`build: waiting for process ${holder}`),
    );
  return step('build', alone, 'correct the sources named above; `npm run types` checks them all');
}

function sourceFiles() {
  return [...rooms.flatMap((room) => filesBelow(path.join(root, room))), ...files.map((file) => path.join(root, file))];
}

function filesBelow(directory) {
  if (!fs.existsSync(directory)) return [];
  const entries = fs.readdirSync(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  return files.filter((file) => !isInstalled(file));
}

/** What npm puts into a room is no source of it. */
function isInstalled(file) {
  return path.relative(root, file).split(path.sep).includes('node_modules');
}

function hashOf(paths, describe) {
  const hash = createHash('sha256').update(process.version);
  for (const file of [...paths].sort()) hash.update(`\0${path.relative(root, file)}\0`).update(describe(file));
  return hash.digest('hex');
}

function contentOf(file) {
  return fs.existsSync(file) ? fs.readFileSync(file) : '';
}

function timesOf(file) {
  const { size, mtimeMs } = fs.statSync(file);
  return `${size}:${mtimeMs}`;
}
