import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { plant } from './mutated-tree.js';

/** A copy of one file within a clone, as the copies of the gate lie within the project's. */
function copyWith(text: string) {
  const clone = mkdtempSync(path.join(os.tmpdir(), 'intendant-clone-'));
  onTestFinished(() => rmSync(clone, { recursive: true, force: true }));
  execFileSync('git', ['init', '-q'], { cwd: clone });
  const dir = path.join(clone, 'state', 'tree');
  mkdirSync(dir, { recursive: true });
  writeFileSync(path.join(dir, 'rule.ts'), text);
  const file = path.join(clone, 'bug.patch');
  const diff = [
    'diff --git a/rule.ts b/rule.ts',
    '--- a/rule.ts',
    '+++ b/rule.ts',
    '@@ -1 +1 @@',
    '-right',
    '+wrong',
    '',
  ];
  writeFileSync(file, ['Plants: a bug.', 'Incident: none.', '', ...diff].join('\n'));
  return { dir, mutant: { name: 'bug', plants: 'a bug', incident: 'none', file } };
}

test('a bug is planted in the copy, not in the clone around it', async () => {
  const { dir, mutant } = copyWith('right\n');
  await plant(mutant, dir);
  expect(readFileSync(path.join(dir, 'rule.ts'), 'utf8')).toBe('wrong\n');
});

test('a bug that does not fit the sources is refused by its name', async () => {
  const { dir, mutant } = copyWith('other\n');
  await expect(plant(mutant, dir)).rejects.toThrow('bug cannot be planted');
});
