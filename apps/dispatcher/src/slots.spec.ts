import { expect, test } from 'vitest';
import { Slots } from './slots.js';

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
