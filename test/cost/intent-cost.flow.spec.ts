import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Stack } from '../flow/stack.js';
import { type IntentCost, measureIntentCost } from './intent-cost.js';
import { whyNotCounted } from './statements.js';

interface Shape {
  readonly services: readonly string[];
  /** Measured with this very test on PostgreSQL 18; whoever changes what is recorded measures it anew. */
  readonly walBytes: number;
}

describe.each<[string, Shape, Omit<IntentCost, 'walBytes'>]>([
  [
    'in the standalone process',
    { services: ['standalone'], walBytes: 4_200 },
    { statements: { append_plain: 1, append_moves: 1 }, transactions: 2, events: 1, doorbells: 0, deleted: 1 },
  ],
  [
    'in policy and dispatcher as processes of their own',
    { services: ['policy', 'dispatcher'], walBytes: 5_180 },
    // The dispatcher loads what it is rung for, and whoever waits loads the outcome it is told about.
    {
      statements: { append_plain: 1, append_moves: 2, load_streams: 2 },
      transactions: 3,
      events: 1,
      doorbells: 1,
      deleted: 2,
    },
  ],
])('an intent that goes alone %s', (_, { services, walBytes }, exact) => {
  let stack: Stack;
  let cost: IntentCost;
  let reason: string | null;

  beforeAll(async () => {
    stack = await Stack.start({ services });
    reason = await whyNotCounted(stack.database);
    if (reason === null) cost = await measureIntentCost(stack);
    else process.stderr.write(`statements per intent are not guarded in this run: ${reason}\n`);
  }, 180_000);
  afterAll(() => stack?.stop());

  test('costs exactly these statements, whatever the clock adds', ({ skip }) => {
    skip(reason !== null, reason ?? '');
    expect(cost.statements).toEqual(exact.statements);
  });

  test('is written in exactly so many transactions', ({ skip }) => {
    skip(reason !== null, reason ?? '');
    expect(cost.transactions).toBe(exact.transactions);
  });

  test('is one message for subscribers, and a doorbell only where another process has to hear of it', ({ skip }) => {
    skip(reason !== null, reason ?? '');
    expect({ events: cost.events, doorbells: cost.doorbells }).toEqual({
      events: exact.events,
      doorbells: exact.doorbells,
    });
    expect(cost.deleted, 'outbox rows deleted').toBe(exact.deleted);
  });

  test(`writes ${walBytes} bytes of WAL, give or take a tenth`, ({ skip }) => {
    skip(reason !== null, reason ?? '');
    expect(cost.walBytes).toBeGreaterThan(walBytes * 0.9);
    expect(cost.walBytes).toBeLessThan(walBytes * 1.1);
  });
});
