import { describe, expect, test } from 'vitest';
import type { CaseReport } from '../case.js';
import { type GateRow, isAsItShouldBe, tableOf, unmutated } from './gate-table.js';
import { judge, type Trial } from './trial.js';

const held: CaseReport = {
  name: 'round 1',
  layer: 'L5',
  violations: [],
  seed: 1,
  seconds: 2,
  intents: 3,
  faults: {},
  reached: {},
  figures: {},
  replay: {},
};
const violation = (rule: string) => ({ rule, message: `${rule} does not hold`, intentId: null, timeline: [] });

describe('a layer', () => {
  test('that broke a rule has caught the mutant, whatever else could not be judged', () => {
    const reports = [
      { ...held, broken: 'NATS did not start' },
      { ...held, violations: [violation('I10'), violation('I2')] },
      { ...held, violations: [violation('I2')] },
    ];
    expect(judge(reports, 7)).toEqual({
      result: 'caught',
      rules: ['I2', 'I10'],
      message: 'I10 does not hold',
      cases: 3,
      seconds: 7,
    });
  });

  test('whose rig failed has not caught anything', () => {
    expect(judge([held, { ...held, broken: 'NATS did not start' }], 7)).toEqual({
      result: 'broken',
      why: 'round 1: NATS did not start',
      cases: 2,
      seconds: 7,
    });
  });

  test('that ran nothing has not found nothing', () => {
    expect(judge([], 0)).toMatchObject({ result: 'broken', why: 'the layer ran no case' });
    expect(judge([held], 7)).toEqual({ result: 'held', cases: 1, seconds: 7 });
  });
});

const caught: Trial = { result: 'caught', rules: ['I1', 'I7'], message: 'two effects', cases: 2, seconds: 61.4 };
const nothing: Trial = { result: 'held', cases: 12, seconds: 4 };
const failed: Trial = { result: 'broken', why: 'no database', cases: 1, seconds: 4 };
const row = (name: string, trials: GateRow['trials']): GateRow => ({ name, commit: null, trials });

test('the table tells what each layer took, and by which rules the first one caught it', () => {
  const first: Trial = { result: 'caught', rules: ['I8'], message: 'a gap', cases: 1, seconds: 1.26 };
  expect(tableOf([row('settle', { L0: nothing, L1: first, L5: caught }), row('key', { L2: failed, L5: caught })])).toBe(
    [
      '| mutant | L0 | L1 | L2 | L5 | L3 | rule |',
      '| --- | --- | --- | --- | --- | --- | --- |',
      '| settle | – | 1.3 s |  | round 2, 61 s |  | I8 |',
      '| key |  |  | could not run | round 2, 61 s |  | I1, I7 |',
    ].join('\n'),
  );
});

test('a mutant that no layer caught, and a finding in the sources as they are, fail the gate', () => {
  expect(isAsItShouldBe(row('settle', { L0: nothing, L1: failed, L5: caught }))).toBe(true);
  expect(isAsItShouldBe(row('settle', { L0: nothing, L5: failed }))).toBe(false);
  expect(isAsItShouldBe(row('settle', {}))).toBe(false);
  expect(isAsItShouldBe(row(unmutated, { L0: nothing, L5: nothing }))).toBe(true);
  expect(isAsItShouldBe(row(unmutated, { L0: nothing, L5: failed }))).toBe(false);
  expect(isAsItShouldBe(row(unmutated, { L0: nothing, L5: caught }))).toBe(false);
});
