import { expect, test, vi } from 'vitest';
import { createLogger } from './logger.js';
import { watchAge } from './watch-age.js';

const logger = createLogger('spec', 'silent');

/** What a gauge was set to by the first look. */
async function firstLook(readMs: () => Promise<number>): Promise<number> {
  const seen: number[] = [];
  const loop = watchAge({ name: 'age', gauge: { set: (seconds) => void seen.push(seconds) }, readMs, logger });
  loop.start();
  await vi.waitFor(() => expect(seen).toHaveLength(1));
  await loop.stop();
  return seen[0] as number;
}

test('tells the age in seconds', async () => {
  expect(await firstLook(async () => 61_500)).toBe(61.5);
});

test('tells no age while nobody can tell it, rather than the last one', async () => {
  expect(await firstLook(() => Promise.reject(new Error('the database is away')))).toBeNaN();
});
