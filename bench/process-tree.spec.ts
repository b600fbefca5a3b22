import { expect, test } from 'vitest';
import { cpuOfTree, parseStat } from './process-tree.js';

const info = (pid: number, parent: number, cpuSeconds: number) => ({ pid, parent, cpuSeconds });

test('a process name with spaces and brackets does not shift the fields', () => {
  const line = '42 (postgres: a) (b) S 7 42 42 0 -1 4194304 1 2 3 4 150 50 25 75 20 0 1 0 100 1000 10';
  expect(parseStat(line)).toEqual(info(42, 7, 3));
});

test('a tree is the process and all below it, and nothing beside it', () => {
  const processes = [info(1, 0, 100), info(10, 1, 1), info(11, 10, 2), info(12, 11, 4), info(20, 1, 50)];
  expect(cpuOfTree(10, processes)).toBe(7);
});

test('a process that has ended is not taken for one that needed no time', () => {
  expect(() => cpuOfTree(10, [info(1, 0, 100)])).toThrow('process 10 has ended');
});

test('the time of a process of its own is read from the system', () => {
  const before = cpuOfTree(process.pid);
  for (const end = process.cpuUsage().user + 100_000; process.cpuUsage().user < end; );
  expect(cpuOfTree(process.pid) - before).toBeGreaterThan(0.05);
});
