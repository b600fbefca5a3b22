import { expect, test } from 'vitest';
import { arrivalsIn, OpenLoop } from './open-loop.js';

const never = () => '';

test('requests are due on a schedule, phase after phase, however many are unanswered', () => {
  const phases = [
    { perSecond: 2, seconds: 1 },
    { perSecond: 4, seconds: 0.5 },
  ];
  const loop = new OpenLoop(phases, 1_000);
  expect([loop.count, arrivalsIn(phases)]).toEqual([4, 4]);
  expect([0, 1, 2, 3, 4].map((index) => loop.dueAt(index))).toEqual([1_000, 1_500, 2_000, 2_250, Infinity]);
});

test('a stall counts for everything that was due in it', () => {
  const loop = new OpenLoop([{ perSecond: 100, seconds: 0.03 }], 0);
  for (const index of [0, 1, 2]) {
    loop.sent(index, 100);
    loop.answer(index, 'settled', 105, never);
  }
  const [phase] = loop.result().phases;
  expect(phase).toMatchObject({ settled: { p50: 95, p99: 105, max: 105 }, behind: { max: 100 } });
});

test('every answer is of one kind, and what is not answered is told', () => {
  const loop = new OpenLoop([{ perSecond: 1, seconds: 5 }], 0);
  loop.answer(0, 'settled', 10, never);
  loop.answer(1, 'kept', 1_010, never);
  loop.answer(2, 'unavailable', 2_010, never);
  loop.answer(3, 'wrong', 3_010, () => 'no such tool');
  loop.answer(3, 'settled', 4_010, never);
  expect(loop.finished).toBe(false);
  const { phases, recorded, example } = loop.result();
  expect(phases[0]).toMatchObject({
    counts: { settled: 1, kept: 1, unavailable: 1, wrong: 1, unanswered: 1 },
    p99BySecond: [10, Number.NaN, Number.NaN, Number.NaN, Number.NaN],
    settledPerSecond: 0.2,
  });
  expect({ recorded, example }).toEqual({ recorded: [0, 1], example: 'no such tool' });
});

test('each phase is judged by what was due in it, also when it is answered later', () => {
  const phases = [
    { perSecond: 1, seconds: 1 },
    { perSecond: 1, seconds: 1 },
  ];
  const loop = new OpenLoop(phases, 0);
  loop.answer(0, 'settled', 1_900, never);
  loop.answer(1, 'settled', 1_200, never);
  expect(loop.result().phases.map(({ settled }) => settled.max)).toEqual([1_900, 200]);
});
