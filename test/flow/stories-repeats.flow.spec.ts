import { subjects } from '@intendant/contracts';
import { headers } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { audit } from './audit.js';
import { eventually } from './eventually.js';
import { HttpClient } from './http-client.js';
import { Stack } from './stack.js';
import { UpstreamCalls } from './upstream-calls.js';

let stack: Stack;
let calls: UpstreamCalls;
const client = new HttpClient(() => stack.url);
beforeAll(async () => {
  stack = await Stack.start({ services: ['policy', 'gateway', 'outbox-relay', 'dispatcher', 'reconciler'] });
  calls = new UpstreamCalls(stack);
});
afterAll(() => stack.stop());

/** What the ledger has for an intent: requests on the wire and effects. */
async function onTheWire(intentId: string): Promise<{ requests: number; effects: number }> {
  const key = await stack.keyOf(intentId);
  return { requests: stack.requests(key).length, effects: stack.effects(key).length };
}

const once = { requests: 1, effects: 1 };

describe.concurrent('a run', () => {
  test('that is interrupted and resumed from its start does only what is new (S07)', async () => {
    const agent = await stack.agent();
    stack.upstream.behave({ match: { bodyContains: `${agent.runId} third` }, behaviour: { delayMs: 1_000 } });
    const step = (tool: string, ref: string, wait?: string) =>
      agent.submit(tool, { ref: `${agent.runId} ${ref}` }, { stepId: ref, ...(wait && { wait }) });
    const before = [
      await step('effects.keyed', 'first', '20s'),
      await step('effects.searched', 'second', '20s'),
      // The interrupt comes while this one is on the wire.
      await step('effects.late', 'third'),
    ];
    const third = before.at(-1)?.intentId ?? '';
    await stack.upstream.waitForRequest({ key: await stack.keyOf(third) }, 20_000);

    const resumed = [
      await step('effects.keyed', 'first', '20s'),
      await step('effects.searched', 'second', '20s'),
      await step('effects.late', 'third', '20s'),
      await step('effects.keyed', 'fourth', '20s'),
    ];
    expect(resumed.map(({ intentId }) => intentId).slice(0, 3)).toEqual(before.map(({ intentId }) => intentId));
    expect(resumed.map(({ status, replayed }) => [status, replayed])).toEqual([
      ...Array(3).fill(['committed', true]),
      ['committed', false],
    ]);
    for (const { intentId } of resumed) expect(await onTheWire(intentId)).toEqual(once);
  });

  test('of ten calls whose sixth goes wrong is run again as a whole: each other call is made once (S29)', async () => {
    const agent = await stack.agent();
    stack.upstream.behave({
      match: { bodyContains: `${agent.runId} 6.` },
      times: 'always',
      behaviour: { commit: false, then: 'status:422' },
    });
    const batch = () =>
      Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          agent.submit('effects.keyed', { ref: `${agent.runId} ${i + 1}.` }, { stepId: `mail-${i + 1}`, wait: '20s' }),
        ),
      );
    const statuses = Array.from({ length: 10 }, (_, i) => (i === 5 ? 'failed' : 'committed'));
    const first = await batch();
    expect(first.map(({ status }) => status)).toEqual(statuses);

    expect(await batch()).toEqual(first.map((result) => ({ ...result, replayed: true })));
    const ledger = await Promise.all(first.map(({ intentId }) => onTheWire(intentId)));
    expect(ledger).toEqual(statuses.map((status) => ({ requests: 1, effects: status === 'failed' ? 0 : 1 })));
  });
});

describe.concurrent('a caller', () => {
  test('whose upstream is slow is answered at once, each time it asks again, and the call is made once (S16)', async () => {
    const { runId, token } = await client.openRun();
    const agent = await stack.agent();
    for (const ref of [runId, agent.runId]) {
      stack.upstream.behave({ match: { bodyContains: ref }, behaviour: { delayMs: 2_000 } });
    }
    const body = { tool: 'effects.late', args: { ref: runId }, stepId: 's1' };
    const overHttp = () => client.http('POST', '/v1/intents', token, { body });
    const overNats = () => agent.submit('effects.late', { ref: agent.runId }, { stepId: 's1' });

    const [http, nats] = await Promise.all([overHttp(), overNats()]);
    const keys = [await stack.keyOf(http.body.intentId), await stack.keyOf(nats.intentId)];
    for (const key of keys) await stack.upstream.waitForRequest({ key }, 20_000);
    for (let retry = 0; retry < 3; retry += 1) {
      // Before the upstream has answered: nobody was made to wait for it.
      expect(await overHttp()).toMatchObject({
        status: 202,
        body: { intentId: http.body.intentId, status: 'dispatching', outcome: 'undecided', replayed: true },
      });
      expect(await overNats()).toMatchObject({ intentId: nats.intentId, status: 'dispatching', replayed: true });
    }
    for (const { intentId } of [http.body, nats]) expect(await stack.settled(intentId)).toBe('committed');
    // The caller that comes back minutes later.
    expect(await overHttp()).toMatchObject({ status: 200, body: { status: 'committed', replayed: true } });
    expect(await overNats()).toMatchObject({ status: 'committed', replayed: true });
    for (const { intentId } of [http.body, nats]) expect(await onTheWire(intentId)).toEqual(once);
  });

  test('that repeats a slow call which succeeds sends no other key, with a step and without (S23)', async () => {
    for (const step of [{ stepId: 's1' }, {}]) {
      const agent = await stack.agent();
      const behaviour = { delayMs: 600, honourKey: false } as const;
      stack.upstream.behave({ match: { bodyContains: agent.runId }, times: 'always', behaviour });
      const press = (wait?: string) =>
        agent.submit('effects.keyed', { ref: agent.runId }, { ...step, ...(wait && { wait }) });
      const { intentId } = await press();
      await stack.upstream.waitForRequest({ key: await stack.keyOf(intentId) }, 20_000);
      const again = await Promise.all([press(), press(), press('20s')]);
      expect(again.map((result) => [result.intentId, result.replayed])).toEqual(Array(3).fill([intentId, true]));
      expect((await press()).status).toBe('committed');
      expect(await stack.store.intents.list({ runId: agent.runId, limit: 10 })).toHaveLength(1);
      expect(await onTheWire(intentId)).toEqual(once);
    }
  });

  test('is told "unknown" after a timeout that charged, and its retry is not sent while it is unknown (S17)', async () => {
    const { runId, token } = await client.openRun();
    const behaviour = { then: 'hang', honourKey: false, lookup: 'lag:3000' } as const;
    stack.upstream.behave({ match: { bodyContains: runId }, behaviour });
    const body = { tool: 'effects.confirmed', args: { ref: runId }, stepId: 's1' };
    const submit = (headers = {}) => client.http('POST', '/v1/intents', token, { body, headers });
    const { intentId } = (await submit()).body;
    await eventually('its outcome is unknown', async () => (await calls.load(intentId)).state === 'unknown');

    const unknown = {
      intentId,
      status: 'unknown',
      outcome: 'unknown',
      error: { code: 'outcome_unknown', retryable: false },
    };
    expect((await client.http('GET', `/v1/intents/${intentId}`, token)).body).toMatchObject(unknown);
    expect((await submit()).body).toMatchObject({ ...unknown, replayed: true });
    expect(await stack.settled(intentId)).toBe('committed');
    expect((await submit()).body).toMatchObject({ intentId, status: 'committed', outcome: 'executed', replayed: true });
    expect(await onTheWire(intentId)).toEqual(once);
  });
});

test('an error of the upstream is told as the error it is, not as an output that does not fit (T11)', async () => {
  const { result, intent, requests, effects } = await calls.run('effects.keyed', { commit: false, then: 'status:422' });
  expect(result).toMatchObject({
    status: 'failed',
    outcome: 'not_executed',
    data: null,
    error: { code: 'upstream_rejected', message: expect.stringContaining('422') },
  });
  expect(intent.attempts.map(({ cause }) => cause)).toEqual(['http_422']);
  expect({ requests, effects }).toEqual({ requests: 1, effects: 0 });
});

test('the list of tools is the same, byte for byte, for the same permissions, through HTTP, NATS and every replica, and no longer than they reach (T15)', async () => {
  const other = await stack.launch('policy');
  const list = async (over: object) => {
    const { token } = await client.openRun(over);
    const authorization = `Bearer ${token}`;
    const overHttp = async () => (await fetch(`${stack.url}/v1/tools`, { headers: { authorization } })).text();
    const overNats = async () => {
      const head = headers();
      head.set('Authorization', authorization);
      return (await stack.bus.request(subjects.rpcTools, '{}', { headers: head, timeout: 30_000 })).string();
    };
    const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => (at % 2 ? overHttp() : overNats())));
    const [first = '', ...more] = answers;
    expect(new Set(more)).toEqual(new Set([first]));
    return first;
  };
  const names = (text: string) => (JSON.parse(text) as { tools: { name: string }[] }).tools.map(({ name }) => name);
  const all = await list({ permissions: ['*'] });
  expect(names(all)).toContain('effects.keyed');
  expect(names(all)).toEqual([...names(all)].sort());
  // Whose it is and what else the run was opened with does not matter.
  expect(await list({ permissions: ['test:use'], user: 'bob', profile: 'batch', phase: 'resolve', ttl: '2h' })).toBe(
    all,
  );
  expect(await list({ permissions: ['test:*', 'payments:refund'], budgets: { calls: 0 } })).toBe(all);
  expect(await list({ permissions: ['payments:refund'] })).toBe('{"tools":[]}');
  await other.stop();
});

describe('while nobody admits anything', () => {
  test('a submit is not recorded, and its retry, which says that it is one, is taken for what it is: the first (S15)', async () => {
    const { runId, token } = await client.openRun();
    await Promise.all(stack.services.filter(({ name }) => name === 'policy').map((policy) => policy.stop()));
    const body = { tool: 'effects.keyed', args: { ref: runId }, stepId: 's1' };
    const submit = (headers = {}) => client.http('POST', '/v1/intents', token, { body, headers });
    expect(await submit()).toMatchObject({
      status: 503,
      body: {
        error: {
          ...{ code: 'unavailable', nextAction: 'wait', retryable: true },
          message: expect.stringContaining('Nothing was recorded; the same call can be made again later'),
        },
      },
    });
    expect(await stack.store.intents.list({ runId, limit: 10 })).toEqual([]);

    await stack.launch('policy');
    const markers = {
      'x-slack-retry-num': '1',
      'x-slack-retry-reason': 'http_timeout',
      'retry-attempt': '2',
      prefer: 'wait=20',
    };
    expect((await submit(markers)).body).toMatchObject({ status: 'committed', replayed: false });
    const retried = (await submit(markers)).body;
    expect(retried).toMatchObject({ status: 'committed', replayed: true });
    expect(await onTheWire(retried.intentId)).toEqual(once);
  });
});

test('in the end log, read model and ledger agree', async () => {
  expect(await audit(stack)).toEqual([]);
});
