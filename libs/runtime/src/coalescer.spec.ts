import { expect, test } from 'vitest';
import { Coalescer } from './coalescer.js';

/** Batches that the test lets through one by one. */
function gated(maxBatch: number, lanes = 1) {
  const batches: { keys: number[]; done: () => void; fail: (error: Error) => void }[] = [];
  const coalescer = new Coalescer<number, string>(
    (keys) =>
      new Promise((resolve, reject) => {
        batches.push({ keys, done: () => resolve(keys.map((key) => `value ${key}`)), fail: reject });
      }),
    maxBatch,
    lanes,
  );
  return { coalescer, batches };
}
const turn = () => new Promise(setImmediate);

test('what is asked in the same turn shares one batch, and each gets its own value in order', async () => {
  const { coalescer, batches } = gated(10);
  const asked = Promise.all([3, 1, 2].map((key) => coalescer.request(key)));
  await turn();
  expect(batches.map((batch) => batch.keys)).toEqual([[3, 1, 2]]);
  batches[0]?.done();
  expect(await asked).toEqual(['value 3', 'value 1', 'value 2']);
});

test('what comes while a batch runs waits and then goes together', async () => {
  const { coalescer, batches } = gated(10);
  const first = coalescer.request(1);
  await turn();
  const second = [coalescer.request(2)];
  await turn();
  second.push(coalescer.request(3));
  await turn();
  expect(batches).toHaveLength(1);
  expect(coalescer.waiting).toBe(2);
  batches[0]?.done();
  await first;
  await turn();
  expect(batches[1]?.keys).toEqual([2, 3]);
  expect(coalescer.waiting).toBe(0);
  batches[1]?.done();
  expect(await Promise.all(second)).toEqual(['value 2', 'value 3']);
});

test('no batch is larger than the bound, and nobody is forgotten', async () => {
  const { coalescer, batches } = gated(2);
  const asked = Promise.all([1, 2, 3, 4, 5].map((key) => coalescer.request(key)));
  for (let n = 0; n < 3; n += 1) {
    await turn();
    await turn();
    batches[n]?.done();
  }
  expect(await asked).toHaveLength(5);
  expect(batches.map((batch) => batch.keys)).toEqual([[1, 2], [3, 4], [5]]);
});

test('an error reaches the callers of its batch and nobody else', async () => {
  const { coalescer, batches } = gated(2);
  const asked = Promise.allSettled([1, 2, 3].map((key) => coalescer.request(key)));
  await turn();
  batches[0]?.fail(new Error('refused'));
  await turn();
  await turn();
  batches[1]?.done();
  const [one, two, three] = await asked;
  expect(one).toMatchObject({ status: 'rejected', reason: { message: 'refused' } });
  expect(two).toMatchObject({ status: 'rejected', reason: { message: 'refused' } });
  expect(three).toEqual({ status: 'fulfilled', value: 'value 3' });
});

test('as many batches run at once as there are lanes', async () => {
  const { coalescer, batches } = gated(1, 2);
  const asked = Promise.all([1, 2, 3].map((key) => coalescer.request(key)));
  await turn();
  expect(batches.map((batch) => batch.keys)).toEqual([[1], [2]]);
  batches[1]?.done();
  await turn();
  await turn();
  expect(batches[2]?.keys).toEqual([3]);
  batches[0]?.done();
  batches[2]?.done();
  expect(await asked).toHaveLength(3);
});
