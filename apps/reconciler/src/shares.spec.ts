import { expect, test } from 'vitest';
import { Shares } from './shares.js';

/** A question that is answered when the test says so. */
function question() {
  let answer = (_: string): void => undefined;
  const asked = new Promise<string>((resolve) => {
    answer = resolve;
  });
  return { ask: () => asked, answer };
}

test('an upstream that hangs takes its share and no more; others are asked at once', async () => {
  const shares = new Shares();
  const hanging = Array.from({ length: 8 }, question);
  const open = hanging.map(({ ask }) => shares.inTurn('b', ask));
  const beyond = shares.inTurn('b', async () => 'asked');
  expect(await shares.inTurn('a', async () => 'answered')).toEqual({ said: 'answered' });
  expect(await beyond, 'not its turn soon').toBeNull();
  expect([shares.isFull('b'), shares.isFull('a')]).toEqual([true, false]);
  const patient = shares.inTurn('b', async () => 'asked', true);

  for (const { answer } of hanging) answer('at last');
  expect(await Promise.all(open)).toEqual(Array(8).fill({ said: 'at last' }));
  expect(await patient, 'whoever can wait has its turn').toEqual({ said: 'asked' });
  const again = Array.from({ length: 8 }, () => shares.inTurn('b', async () => 'asked'));
  expect(await Promise.all(again), 'no slot was lost to those who did not wait').toEqual(
    Array(8).fill({ said: 'asked' }),
  );
});

test('of an upstream that answers every question is asked in its turn', async () => {
  const shares = new Shares();
  let most = 0;
  let open = 0;
  const ask = async (n: number) => {
    open += 1;
    most = Math.max(most, open);
    await new Promise(setImmediate);
    open -= 1;
    return n;
  };
  const all = Array.from({ length: 200 }, (_, n) => n);
  expect(await Promise.all(all.map((n) => shares.inTurn('a', () => ask(n))))).toEqual(all.map((said) => ({ said })));
  expect(most).toBe(8);
});

test('a question that fails gives its turn back', async () => {
  const shares = new Shares();
  for (let i = 0; i < 20; i += 1) {
    await expect(shares.inTurn('a', () => Promise.reject(new Error('the database is away')))).rejects.toThrow('away');
  }
  expect(await shares.inTurn('a', async () => 'asked')).toEqual({ said: 'asked' });
});
