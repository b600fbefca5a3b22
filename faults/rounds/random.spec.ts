import { expect, it } from 'vitest';
import { Random } from './random.js';

it('gives the same numbers for the same seed and others for another', () => {
  const draw = (seed: number) => {
    const random = new Random(seed);
    return Array.from({ length: 20 }, () => random.next());
  };
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
});

it('draws whole numbers with both ends, about equally often', () => {
  const random = new Random(1);
  const counts = new Map<number, number>();
  for (let i = 0; i < 6_000; i += 1) {
    const drawn = random.whole(1, 6);
    counts.set(drawn, (counts.get(drawn) ?? 0) + 1);
  }
  expect([...counts.keys()].sort()).toEqual([1, 2, 3, 4, 5, 6]);
  for (const count of counts.values()) expect(count).toBeGreaterThan(800);
});

it('picks by weight', () => {
  const random = new Random(2);
  const items = [
    { name: 'often', weight: 9 },
    { name: 'never', weight: 0 },
    { name: 'seldom', weight: 1 },
  ];
  const counts: Record<string, number> = {};
  for (let i = 0; i < 1_000; i += 1) {
    const { name } = random.weighted(items);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  expect(counts['never']).toBeUndefined();
  expect(counts['often']).toBeGreaterThan(850);
});

it('leaves a fork alone', () => {
  const one = new Random(3);
  const other = new Random(3);
  const fork = one.fork();
  other.fork();
  fork.next();
  expect(one.next()).toBe(other.next());
});
