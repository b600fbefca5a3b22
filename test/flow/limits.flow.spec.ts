import { type IntentCloudEvent, streams } from '@intendant/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { audit } from './audit.js';
import { eventually } from './eventually.js';
import { Stack } from './stack.js';
import { messagesOf } from './stream-listing.js';

const services = ['gateway', 'policy', 'outbox-relay', 'dispatcher', 'reconciler'] as const;

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.start({ services });
});
afterAll(() => stack.stop());

/** Value lines of the metrics that a service has, without Node's own. */
async function metricsOf(service: string, all = false): Promise<string[]> {
  const answer = await fetch(`${stack.services.find(({ name }) => name === service)?.url}/metrics`);
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const lines = (await answer.text()).split('\n');
  return all ? lines : lines.filter((line) => line.startsWith('intendant_'));
}

async function publicEvents(intentId: string): Promise<IntentCloudEvent[]> {
  const messages = await messagesOf(stack, streams.events);
  const events = messages.map(({ payload }) => JSON.parse(payload) as IntentCloudEvent);
  return events.filter(({ subject }) => subject === intentId);
}

describe('while an attempt is open for longer than the notice limit', () => {
  test('"still working" is published once, and then the outcome', async () => {
    const agent = await stack.agent();
    stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour: { delayMs: 1_500 } });
    const { intentId } = await agent.submit('effects.noticed', { ref: agent.runId }, { wait: '20s' });
    const events = await eventually('the outcome is published', async () => {
      const found = await publicEvents(intentId);
      return found.length >= 2 ? found : null;
    });
    expect(events.map(({ type }) => type)).toEqual(['intendant.intent.progress', 'intendant.intent.committed']);
    expect(events[0]).toMatchObject({
      id: `${intentId}-progress-1`,
      data: {
        intentId,
        status: 'dispatching',
        message: expect.stringMatching(/^effects\.noticed has been working for 0\.\d s and has not answered yet/),
      },
    });
    expect(await stack.store.intents.history(intentId)).toHaveLength(4);
  });

  test('and not when the answer comes before', async () => {
    const agent = await stack.agent();
    const quick = await agent.submit('effects.noticed', { ref: 'quick' }, { wait: '20s' });
    stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour: { delayMs: 800 } });
    const slow = await agent.submit('effects.noticed', { ref: agent.runId }, { wait: '20s' });
    // Published later than anything that could still be said about the quick one.
    await eventually('the slow one is told of', async () => (await publicEvents(slow.intentId)).length >= 2);
    expect((await publicEvents(quick.intentId)).map(({ type }) => type)).toEqual(['intendant.intent.committed']);
    expect(await metricsOf('dispatcher')).toContain('intendant_notices_total{tool="effects.noticed"} 2');
  });
});

test('an upstream that gives no answer is left alone for a while, and then everything takes effect once', async () => {
  const agent = await stack.agent();
  // Twenty open the circuit; three more may be under way then.
  const times = 23;
  const lost = { match: { path: '/effects/flooded' }, times, behaviour: { then: 'reset', commit: false } } as const;
  stack.upstream.behave(lost);
  const submitted = await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      agent.submit('effects.flooded', { ref: `flood ${i}` }, { stepId: `flood-${i}`, wait: '0s' }),
    ),
  );
  await eventually('the circuit is open', async () =>
    (await metricsOf('dispatcher')).includes('intendant_circuit_open{upstream="flooded"} 1'),
  );
  for (const { intentId } of submitted) expect(await stack.settled(intentId, 60_000)).toBe('committed');
  const effects = await Promise.all(submitted.map(async ({ intentId }) => stack.effects(await stack.keyOf(intentId))));
  expect(effects.map(({ length }) => length)).toEqual(submitted.map(() => 1));
  const ledger = stack.upstream.ledger();
  const sent = ledger.filter(({ kind, path }) => kind === 'request' && path === '/effects/flooded');
  expect(sent).toHaveLength(times + submitted.length);
  expect(await metricsOf('dispatcher')).toContain('intendant_circuit_open{upstream="flooded"} 0');
});

test('every service tells what it does, and no service tells of whom', async () => {
  const agent = await stack.agent();
  const { intentId } = await agent.submit('effects.keyed', { ref: 'counted' }, { wait: '20s' });
  for (const service of services) {
    const text = (await metricsOf(service, true)).join('\n');
    expect(text).toMatch(/^process_cpu_seconds_total \d/m);
    for (const id of [intentId, agent.runId, 'acme'])
      expect(text.includes(id), `${service} tells of ${id}`).toBe(false);
  }
  const dispatcher = await metricsOf('dispatcher');
  expect(dispatcher).toContain('intendant_attempts_total{tool="effects.keyed",verdict="executed"} 1');
  expect(dispatcher).toContain('intendant_attempts_total{tool="effects.flooded",verdict="unknown"} 23');
  expect(dispatcher).toContain('intendant_attempt_seconds_count{tool="effects.keyed"} 1');
  expect(dispatcher).toContain('intendant_open_attempts{upstream="flooded"} 0');
  expect(await metricsOf('reconciler')).toContainEqual(
    expect.stringMatching(/^intendant_lookups_total\{tool="effects\.flooded",answer="absent"\} [1-9]/),
  );
});

test('in the end log, read model and ledger agree', async () => {
  expect(await audit(stack)).toEqual([]);
});
