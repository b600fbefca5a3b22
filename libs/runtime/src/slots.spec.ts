import { describe, expect, test, vi } from 'vitest';
import { Slots, takeEach, tryTakeEach } from './slots.js';

test('gives out as many slots as there are, and the next one when one is released', async () => {
  const slots = new Slots(2);
  expect(await slots.take()).toBe(true);
  expect(slots.isFree).toBe(true);
  expect(await slots.take()).toBe(true);
  expect(slots.isFree).toBe(false);
  const third = slots.take();
  expect(slots.waiting).toBe(1);
  slots.release();
  expect(await third).toBe(true);
  expect([slots.waiting, slots.isFree]).toEqual([0, false]);
});

test('serves those who wait in their order', async () => {
  const slots = new Slots(1);
  await slots.take();
  const order: string[] = [];
  const first = slots.take().then(() => order.push('first'));
  const second = slots.take().then(() => order.push('second'));
  slots.release();
  await first;
  expect(order).toEqual(['first']);
  slots.release();
  await second;
  expect(order).toEqual(['first', 'second']);
});

test('closed, it sends away those who wait and those who come', async () => {
  const slots = new Slots(1);
  await slots.take();
  const waiting = slots.take();
  slots.close();
  expect(await waiting).toBe(false);
  slots.release();
  expect([slots.isFree, await slots.take()]).toEqual([false, false]);
});

describe('a rest', () => {
  test('gives nothing out until it is over, not even what is released meanwhile, and then one at a time until all is good again', async () => {
    vi.useFakeTimers();
    try {
      const slots = new Slots(3);
      await slots.take();
      slots.rest(1_000);
      slots.rest(10);
      expect([slots.isFree, slots.tryTake()]).toEqual([false, false]);
      const order: string[] = [];
      const waiting = ['first', 'second', 'third', 'fourth'].map((name) => slots.take().then(() => order.push(name)));
      slots.release();
      await vi.advanceTimersByTimeAsync(999);
      expect(order).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      expect(order).toEqual(['first']);
      slots.release();
      await vi.advanceTimersByTimeAsync(0);
      expect(order).toEqual(['first', 'second']);
      slots.resume();
      await Promise.all(waiting);
      expect([slots.isFree, slots.waiting]).toEqual([false, 0]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('ends with the close, and leaves no timer behind', async () => {
    vi.useFakeTimers();
    try {
      const slots = new Slots(1);
      slots.rest(60_000);
      const waiting = slots.take();
      slots.close();
      slots.rest(60_000);
      expect([await waiting, vi.getTimerCount()]).toEqual([false, 0]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a slot of each', () => {
  test('is taken of all or of none', () => {
    const [wide, narrow] = [new Slots(3), new Slots(1)];
    const release = tryTakeEach([wide, narrow]);
    expect(release).not.toBeNull();
    expect(tryTakeEach([wide, narrow])).toBeNull();
    expect([wide.tryTake(), wide.tryTake(), wide.tryTake()]).toEqual([true, true, false]);
    release?.();
    expect([wide.isFree, narrow.isFree]).toEqual([true, true]);
  });

  test('is waited for in their order', async () => {
    const [first, second] = [new Slots(1), new Slots(1)];
    await second.take();
    const both = takeEach([first, second]);
    await Promise.resolve();
    expect([first.isFree, second.waiting]).toEqual([false, 1]);
    second.release();
    (await both)?.();
    expect([first.isFree, second.isFree]).toEqual([true, true]);
  });

  test('is given back when one of them closes while it is waited for', async () => {
    const [first, second] = [new Slots(1), new Slots(1)];
    await second.take();
    const both = takeEach([first, second]);
    await Promise.resolve();
    second.close();
    expect(await both).toBeNull();
    expect(first.isFree).toBe(true);
  });
});
