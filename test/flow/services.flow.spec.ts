import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stack } from './stack.js';

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.start({ services: ['policy', 'outbox-relay', 'dispatcher', 'reconciler'] });
});
afterAll(() => stack.stop());

test('an intent goes through the separate services and takes effect once', async () => {
  const agent = await stack.agent();
  const result = await agent.submit('effects.keyed', { ref: 'a' }, { stepId: 's1', wait: '10s' });

  expect(result).toMatchObject({ status: 'committed', outcome: 'executed', replayed: false, error: null });
  expect(stack.effects(await stack.keyOf(result.intentId))).toHaveLength(1);
  const events = await stack.store.intents.history(result.intentId);
  expect(events.map((e) => e.event.type)).toEqual(['recorded', 'authorized', 'attempt_started', 'committed']);
});
