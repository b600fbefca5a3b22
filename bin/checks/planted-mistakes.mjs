#!/usr/bin/env node
// The floating-promise rules need type information and find nothing, silently, when the linter cannot load it (seen with
// a symlinked node_modules). A file with one known mistake of each kind shows that they work here and now.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { root } from '../setup/paths.mjs';

const file = path.join('bin', 'checks', 'planted', 'floating-promise.ts');
const expected = ['noFloatingPromises', 'noFloatingPromises', 'noMisusedPromises'];

const biome = path.join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');
const rules = [...new Set(expected)].map((rule) => `--only=nursery/${rule}`);
const { stdout, stderr } = spawnSync(
  process.execPath,
  [biome, 'lint', '--colors=off', '--reporter=github', ...rules, file],
  {
    cwd: root,
    encoding: 'utf8',
  },
);
const found = [...stdout.matchAll(/title=lint\/nursery\/(\w+),/g)].map((match) => match[1]).sort();

if (found.join() !== expected.join()) {
  console.error(`${file}: expected ${expected.join(', ')}, the linter found ${found.join(', ') || 'nothing'}`);
  console.error(stderr);
  process.exitCode = 1;
}
