import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readMutants, shipped } from './mutants.js';

const folder = fileURLToPath(new URL('.', import.meta.url));
const root = path.join(folder, '../..');
const mutants = readMutants(folder);

test('none of the bugs that others have shipped is missing', () => {
  expect(mutants.map(({ name }) => name)).toEqual(expect.arrayContaining([...shipped]));
});

test.each(mutants)('$name can be planted in the present sources', ({ file }) => {
  const check = () => execFileSync('git', ['apply', '--check', file], { cwd: root, stdio: 'pipe' });
  expect(check).not.toThrow();
});

test.each(mutants)('$name changes the product only', ({ file }) => {
  const changed = [...readFileSync(file, 'utf8').matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, name = '']) => name);
  expect(changed.length).toBeGreaterThan(0);
  expect(changed.filter((name) => !/^(apps|libs|migrations)\/(?!.*\.spec)/.test(name))).toEqual([]);
});
