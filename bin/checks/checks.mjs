import path from 'node:path';
import { root } from '../setup/paths.mjs';

const bin = (name, ...parts) => path.join(root, 'node_modules', name, ...parts);
const own = (name) => path.join(root, 'bin', 'checks', name);
const rooms = ['apps', 'clients', 'libs', 'migrations', 'examples', 'test', 'bench', 'faults'];

/** The checks beside the tests, as arguments of Node; each counts as one test. The slowest comes first. */
export const checks = [
  { name: 'types', args: [bin('typescript', 'bin', 'tsc'), '--noEmit', '--pretty', 'false'] },
  {
    name: 'import rules',
    args: [bin('dependency-cruiser', 'bin', 'dependency-cruise.mjs'), '--output-type', 'err-long', ...rooms],
  },
  {
    name: 'format and lint',
    args: [bin('@biomejs/biome', 'bin', 'biome'), 'ci', '--colors=off', '--max-diagnostics=50'],
  },
  { name: 'lint finds planted mistakes', args: [own('planted-mistakes.mjs')] },
  { name: 'no unfinished work', args: [own('unfinished-work.mjs')] },
];
