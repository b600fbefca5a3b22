import { expect, test, vi } from 'vitest';
import { createLogger } from './logger.js';
import { Loop } from './loop.js';

const logger = createLogger('spec', 'silent');

/** A loop over a scripted duty; `calls` tells how often it ran, and when. */
function loopOver(idleMs: number, duty: (call: number) => Promise<number>, restMs = 0) {
  const calls: number[] = [];
  const loop = new Loop({
    name: 'duty',
    idleMs,
    restMs,
    logger,
    runOnce: () => {
      calls.push(performance.now());
      return duty(calls.length);
    },
  });
  return { loop, calls };
}
const gaps = (calls: readonly number[]) => calls.slice(1).map((at, i) => at - (calls[i] ?? 0));

test('goes on at once as long as there is something to do, and then pauses', async () => {
  const { loop, calls } = loopOver(60_000, async (call) => (call < 5 ? 1 : 0));
  loop.start();
  await vi.waitFor(() => expect(calls).toHaveLength(5));
  await loop.stop();
  expect(calls).toHaveLength(5);
});

test('looks again by itself after the idle pause', async () => {
  const { loop, calls } = loopOver(20, async () => 0);
  loop.start();
  await vi.waitFor(() => expect(calls.length).toBeGreaterThan(2));
  await loop.stop();
  for (const gap of gaps(calls)) expect(gap).toBeGreaterThan(15);
});

test('rests between two units however much there is to do', async () => {
  const { loop, calls } = loopOver(60_000, async (call) => (call < 5 ? 1 : 0), 30);
  loop.start();
  await vi.waitFor(() => expect(calls).toHaveLength(5));
  await loop.stop();
  for (const gap of gaps(calls)) expect(gap).toBeGreaterThanOrEqual(29);
});

test('stops after the unit in progress, and not before', async () => {
  let finish: (done: number) => void = () => undefined;
  const { loop, calls } = loopOver(
    1,
    () =>
      new Promise((resolve) => {
        finish = resolve;
      }),
  );
  loop.start();
  let stopped = false;
  const stopping = loop.stop().then(() => {
    stopped = true;
  });
  await new Promise(setImmediate);
  expect(stopped).toBe(false);
  finish(1);
  await stopping;
  expect(calls).toHaveLength(1);
});

test('pauses longer from failure to failure, up to ten times, and is back at once after a success', async () => {
  const { loop, calls } = loopOver(10, (call) =>
    call <= 6 ? Promise.reject(new Error('the database is away')) : Promise.resolve(0),
  );
  loop.start();
  await vi.waitFor(() => expect(calls.length).toBeGreaterThan(8), 5_000);
  await loop.stop();
  const least = [20, 40, 80, 100, 100, 100];
  gaps(calls)
    .slice(0, 6)
    .forEach((gap, i) => {
      expect(gap).toBeGreaterThan((least[i] ?? 0) - 3);
    });
  expect(Math.min(...gaps(calls).slice(6))).toBeLessThan(80);
});
