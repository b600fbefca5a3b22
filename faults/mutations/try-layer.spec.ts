import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Machine } from '../machine.js';
import { roundsAtMost, tryLayer } from './try-layer.js';

/** A copy whose rig is `body`, which sees what it was asked for as `option('--seed')` and tells by `report(cases)`. */
function treeWith(body: string, signal = new AbortController().signal) {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'intendant-mutants-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(path.join(dir, 'dist', 'faults'), { recursive: true });
  const main = `
    const { readFileSync, writeFileSync } = require('node:fs');
    const option = (name) => process.argv[process.argv.indexOf(name) + 1];
    const report = (cases) => writeFileSync(option('--json'), JSON.stringify({ cases }));
    const machine = JSON.parse(readFileSync(process.env.RUN_FILE, 'utf8'));
    const violation = { rule: 'I1', message: 'two effects', intentId: null, timeline: [] };
    ${body}`;
  writeFileSync(path.join(dir, 'dist', 'faults', 'main.js'), main);
  return { dir, evidence: path.join(dir, 'bug.'), machine: { stateDir: 'kept here' } as Machine, signal };
}

test('runs that layer of the copy, with the machine it is given', async () => {
  const tree = treeWith(`
    const told = [option('--layers'), machine.stateDir, process.argv.includes('--short')].join();
    report([{ violations: [{ ...violation, message: told }] }]);
    process.exitCode = 1;`);
  const trial = await tryLayer('L1', tree);
  expect(trial).toMatchObject({ result: 'caught', rules: ['I1'], message: 'L1,kept here,true', cases: 1 });
  expect(readFileSync(path.join(tree.dir, 'bug.L1.json'), 'utf8')).toContain('L1,kept here,true');
});

test('asks for a bounded number of rounds, and for the end of the run with the first finding', async () => {
  const tree = treeWith(`
    const asked = [option('--rounds'), process.argv.includes('--fail-fast'), process.argv.includes('--short')].join();
    report([{ violations: [] }, { violations: [{ ...violation, message: asked }] }]);`);
  const message = `${roundsAtMost},true,false`;
  expect(await tryLayer('L5', tree)).toMatchObject({ result: 'caught', message, cases: 2 });
});

test('a layer that finds nothing says so', async () => {
  const tree = treeWith(`report([{ violations: [] }]);`);
  expect(await tryLayer('L5', tree)).toMatchObject({ result: 'held', cases: 1 });
});

test('a rig that dies without a report has caught nothing', async () => {
  const tree = treeWith(`console.error('there is no NATS here'); process.exit(1);`);
  expect(await tryLayer('L3', tree)).toMatchObject({
    result: 'broken',
    why: 'it wrote no report: there is no NATS here',
  });
});

test('ends the rig when the run is broken off', async () => {
  const end = new AbortController();
  const tree = treeWith(`writeFileSync('started', ''); setInterval(() => {}, 1_000);`, end.signal);
  const trial = tryLayer('L3', tree);
  trial.catch(() => undefined);
  await vi.waitFor(() => expect(existsSync(path.join(tree.dir, 'started'))).toBe(true), 20_000);
  end.abort(new Error('broken off'));
  await expect(trial).rejects.toThrow('broken off');
  await expect(tryLayer('L3', tree)).rejects.toThrow('broken off');
});
