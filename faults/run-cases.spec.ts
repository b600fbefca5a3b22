import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { CaseReport, FaultCase, Layer } from './case.js';
import type { Machine } from './machine.js';
import { keptFile } from './rounds/kept-round.js';
import { runCases } from './run-cases.js';

const machine = { stateDir: '' } as Machine;
const held = { intents: 1, faults: {}, reached: {}, figures: {}, violations: [], seed: 1, seconds: 0.1 } as const;

function fixture(until: number | null = null, workers = 2) {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'intendant-cases-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const lines: string[] = [];
  const end = new AbortController();
  const options = {
    ...{ machine, dir, seed: 7, workers, until, failFast: false },
    ...{ say: (line: string) => void lines.push(line), signal: end.signal },
  };
  return { dir, lines, end, options };
}

function caseOf(name: string, layer: Layer, run: () => Promise<Partial<CaseReport>>): FaultCase {
  return { name, layer, run: async () => ({ ...held, name, layer, replay: { name }, ...(await run()) }) };
}

test('a case that failed leaves its directory with the file it can be run again from', async () => {
  const { dir, lines, options } = fixture();
  const violation = { rule: 'I1', message: 'two effects', intentId: 'i', timeline: [] };
  const told: number[] = [];
  const reports = await runCases(
    [caseOf('good', 'L3', async () => ({})), caseOf('bad', 'L3', async () => ({ violations: [violation] }))],
    { ...options, ended: async (soFar) => void told.push(soFar.length) },
  );
  expect(told).toEqual([1, 2]);
  expect(existsSync(path.join(dir, '1'))).toBe(false);
  const written = JSON.parse(readFileSync(path.join(dir, '2', 'replay.json'), 'utf8'));
  expect(written).toEqual({ layer: 'L3', name: 'bad', replay: { name: 'bad' } });
  expect(reports.find(({ name }) => name === 'bad')?.replayFile).toMatch(/replay\.json$/);
  expect(lines.join('\n')).toContain('✗ L3 bad (0.1 s): 1 violation (I1): two effects');
});

test('a case that held leaves only what it can be judged again by', async () => {
  const { dir, options } = fixture();
  const keeping: FaultCase = {
    ...caseOf('keeping', 'L5', async () => ({})),
    run: async (context) => {
      for (const name of [keptFile, 'ledger.jsonl']) writeFileSync(path.join(context.dir, name), '');
      return { ...held, name: 'keeping', layer: 'L5', replay: {} };
    },
  };
  await runCases([keeping], options);
  expect(readdirSync(path.join(dir, '1'))).toEqual([keptFile]);
});

test('a case that throws counts as broken and stops no other', async () => {
  const { options } = fixture();
  const cases = [
    caseOf('thrown', 'L2', async () => {
      throw new Error('no database');
    }),
    caseOf('good', 'L2', async () => ({})),
  ];
  const reports = await runCases(cases, options);
  expect(reports.map(({ name, broken }) => [name, broken])).toEqual([
    ['thrown', 'no database'],
    ['good', undefined],
  ]);
  // Its name and the seed of the run are all that it can be run again from.
  expect(reports[0]).toMatchObject({ seed: 7 });
  expect(reports[0]).not.toHaveProperty('replayFile');
});

test('rounds run side by side and everything below them alone', async () => {
  const { options } = fixture(null, 3);
  const most: Record<string, number> = {};
  let running = 0;
  let third = () => {};
  const threeRun = new Promise<void>((resolve) => {
    third = resolve;
  });
  const counting = (layer: Layer) =>
    caseOf(`${layer} ${Math.random()}`, layer, async () => {
      running += 1;
      most[layer] = Math.max(most[layer] ?? 0, running);
      if (running === 3) third();
      // A round that had to wait for another one to end would wait for ever.
      if (layer === 'L5') await threeRun;
      running -= 1;
      return {};
    });
  await runCases([...[...Array(4)].map(() => counting('L3')), ...[...Array(6)].map(() => counting('L5'))], options);
  expect(most).toEqual({ L3: 1, L5: 3 });
});

test('no case is begun after the time is over or the run was broken off', async () => {
  const late = fixture(Date.now() - 1);
  expect(await runCases([caseOf('any', 'L5', async () => ({}))], late.options)).toEqual([]);
  const ended = fixture();
  const first = caseOf('first', 'L3', async () => {
    ended.end.abort();
    return {};
  });
  expect(await runCases([first, caseOf('second', 'L3', async () => ({}))], ended.options)).toEqual([]);
});

test('a run that ends with its first finding begins no case after one that broke a rule, but after one that could not be judged', async () => {
  const { options } = fixture();
  const violation = { rule: 'I1', message: 'two effects', intentId: 'i', timeline: [] };
  const cases = [
    caseOf('unjudged', 'L3', async () => ({ broken: 'no database' })),
    caseOf('bad', 'L3', async () => ({ violations: [violation] })),
    caseOf('late', 'L3', async () => ({})),
  ];
  const names = async (failFast: boolean) => (await runCases(cases, { ...options, failFast })).map(({ name }) => name);
  expect(await names(true)).toEqual(['unjudged', 'bad']);
  expect(await names(false)).toEqual(['unjudged', 'bad', 'late']);
});

test('a case is told which ones follow, and what they share is closed when the run is over', async () => {
  const { options, end } = fixture();
  const events: string[] = [];
  const sharing = (name: string): FaultCase => ({
    name,
    layer: 'L3',
    run: async ({ following }) => {
      events.push(`${name} before ${following.map((each) => each.name).join(' and ')}`);
      if (name === 'second') end.abort();
      return { ...held, name, layer: 'L3', replay: {} };
    },
    close: async () => void events.push('closed'),
  });
  await runCases([sharing('first'), sharing('second'), sharing('third')], options);
  expect(events.slice(0, 2)).toEqual(['first before second and third', 'second before third']);
  expect(events.slice(2)).toContain('closed');
});
