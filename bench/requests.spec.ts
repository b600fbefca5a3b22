import { expect, test } from 'vitest';
import { doubtfulMark, leftBehind, requestOf, spreadTools } from './requests.js';

const mixed = Array.from({ length: 3_000 }, (_, n) => requestOf(n, 'mixed'));

test('of a mixed load a tenth is doubtful, a twentieth denied and a fifth repeated', () => {
  const later = mixed.slice(1_000);
  const first = new Set(mixed.slice(0, 1_000).map(({ step }) => step));
  const isRepeated = ({ step }: (typeof mixed)[number], i: number) => step !== i + 1_000;
  const isDoubtful = (each: (typeof mixed)[number]) => JSON.stringify(each.args).includes(doubtfulMark.toString());
  const fresh = later.filter((each, i) => !isRepeated(each, i));
  expect(first.size).toBe(1_000);
  expect(later.filter(isRepeated)).toHaveLength(400);
  expect(fresh.filter(isDoubtful)).toHaveLength(200);
  expect(fresh.filter(({ mark }) => mark.includes('denied'))).toHaveLength(100);
  expect(leftBehind(3_000, 'mixed')).toEqual({ committed: 3_000 - 150 - 400, denied: 150 });
});

test('a repetition is the same call as the first, and the first was sent a thousand requests before', () => {
  mixed.forEach((each, n) => {
    if (each.step === n) return;
    const { tool, args, step } = requestOf(each.step, 'mixed');
    expect(each).toMatchObject({ tool, args, step });
    expect(n - each.step).toBeGreaterThan(950);
  });
});

test('a spread load reaches every tool', () => {
  const tools = Array.from({ length: spreadTools }, (_, n) => requestOf(n, 'spread').tool);
  expect(new Set(tools).size).toBe(spreadTools);
});
