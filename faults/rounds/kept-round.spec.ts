import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { CaseReport } from '../case.js';
import { historyOf } from '../history/dangerous-states.spec-helper.js';
import { judgeAgain, type KeptRound, keep, keptFile } from './kept-round.js';
import { planRound } from './plan.js';

const plan = planRound(7, { short: true, shape: { oldNats: false } });
const told: CaseReport = {
  ...{ name: 'round 7', layer: 'L5', seed: 7, seconds: 60, intents: 1, violations: [] },
  ...{ faults: {}, reached: {}, figures: {}, replay: { plan } },
};

it('judges the rounds of a run again by what is kept of them, and leaves the others as they were told', async () => {
  const run = mkdtempSync(path.join(os.tmpdir(), 'intendant-kept-'));
  onTestFinished(() => rmSync(run, { recursive: true, force: true }));
  for (const dir of ['1', '2']) mkdirSync(path.join(run, dir));
  const violation = { rule: 'rest', message: 'it did not come to rest', intentId: null, timeline: [] };
  // A row without events, which the rules of then did not know to be wrong.
  const round: KeptRound = {
    ...{
      plan,
      history: historyOf({}),
      violations: [violation],
      problems: ['kill: gone'],
      late: { rigMs: 12.3, upstreamMs: 4 },
      seconds: 61,
    },
  };
  await keep(path.join(run, '1'), round);
  const broken: CaseReport = { ...told, name: 'round 8', broken: 'no port' };
  const { cases, judged } = await judgeAgain(run, [told, broken]);
  const [again, same] = cases;
  expect(judged).toBe(1);
  expect(again).toMatchObject({ name: 'round 7', seconds: 61, intents: 1, figures: { faultsNotCarriedOut: 1 } });
  expect(again?.violations.map(({ rule }) => rule)).toEqual(['rest', 'I8', 'I9']);
  expect(same).toBe(broken);
  await keep(path.join(run, '1'), { ...round, late: { rigMs: 2_001, upstreamMs: 4 } });
  const late = (await judgeAgain(run, [told])).cases[0];
  expect(late?.violations).toEqual([]);
  expect(late?.broken).toMatch(/^the rig was held up for 2001 ms .* not counted: 3 findings, such as rest: /);
  writeFileSync(path.join(run, '2', keptFile), 'garbled');
  await expect(judgeAgain(run, [told])).rejects.toThrow(`2/${keptFile} is no round that was kept: `);
});
