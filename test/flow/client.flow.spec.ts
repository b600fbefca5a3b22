import { Intendant, IntendantError, NoOutcomeYet, type Run, type RunEvent } from '@intendant/client';
import { type Meddler, type Reply, startMeddler, startTcpProxy, type TcpProxy } from '@intendant/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Stack, serviceKey } from './stack.js';

let stack: Stack;
let proxy: TcpProxy;
const meddlers: Meddler[] = [];
beforeAll(async () => {
  stack = await Stack.start();
  proxy = await startTcpProxy(Number(new URL(stack.url).port));
});
afterAll(async () => {
  await proxy?.close();
  await Promise.all(meddlers.map((each) => each.close()));
  await stack?.stop();
});

const budgets = { calls: 1_000, mutating: 1_000, destructive: 100, wallClock: '1h' };
const openRun = (url = stack.url) =>
  new Intendant({ url, serviceKey }).openRun({ user: 'ada', permissions: ['*'], profile: 'interactive', budgets });
const throughProxy = () => proxy.through(stack.url);
/** A run that speaks to the gateway by way of somebody in between. */
const through = async (run: Run, meddle: Parameters<typeof startMeddler>[1]) => {
  const meddler = await startMeddler(stack.url, meddle);
  meddlers.push(meddler);
  return new Intendant({ url: meddler.url }).run(run);
};
const all = async (events: AsyncIterable<RunEvent>) => {
  const found: RunEvent[] = [];
  for await (const event of events) found.push(event);
  return found;
};
const effectsOf = async (intentId: string) => stack.effects(await stack.keyOf(intentId)).length;

test('a run is opened, used, followed and closed', async () => {
  const run = await openRun();
  expect(run.opened.budgets).toMatchObject({ calls: 1_000, wallClockSeconds: 3_600 });
  const tools = await run.tools({ namespace: 'effects' });
  expect(tools).toContainEqual(expect.objectContaining({ name: 'effects.keyed', effect: 'destructive' }));
  const following = all(run.events());
  const result = await run.call<{ effect_id: string }>('effects.keyed', { ref: run.runId }, { stepId: 's1' });
  expect(result).toMatchObject({ stepId: 's1', status: 'committed', outcome: 'executed', replayed: false });
  expect(result.data?.effect_id).toEqual(expect.any(String));
  const again = await run.call('effects.keyed', { ref: run.runId }, { stepId: 's1' });
  expect(again).toEqual({ ...result, replayed: true });
  expect(await run.intent(result.intentId)).toEqual(result);
  await run.close();
  const events = await following;
  expect(events.map(({ type, version, intentId }) => ({ type, version, intentId }))).toEqual(
    ['recorded', 'authorized', 'attempt_started', 'committed'].map((type, i) => ({
      ...{ type, version: i + 1 },
      intentId: result.intentId,
    })),
  );
  expect(await all(run.events({ after: events[2]?.id ?? '' }))).toEqual(events.slice(3));
  await expect(run.call('effects.keyed', { ref: 'late' })).rejects.toMatchObject({ code: 'run_closed' });
});

test('a run is opened with everything that its type has', async () => {
  const run = await new Intendant({ url: stack.url, serviceKey }).openRun({
    ...{ user: 'ada', permissions: ['*'], profile: 'batch', phase: 'resolve', ttl: '30m', sandbox: false },
    budgets: { calls: 5, mutating: 4, destructive: 3, cost: 2.5, wallClock: '10m' },
    restrict: [{ tools: ['effects.*'], allow: 'args.ref == "mine"', message: 'Only mine.' }],
  });
  expect(run.opened.budgets).toEqual({ calls: 5, mutating: 4, destructive: 3, cost: 2.5, wallClockSeconds: 600 });
  expect(await run.call('effects.keyed', { ref: 'others' })).toMatchObject({ status: 'denied' });
  expect(await run.call('effects.keyed', { ref: 'mine' })).toMatchObject({ status: 'committed' });
});

test('what was not recorded is an error that says what to do; what was is a result', async () => {
  const run = await openRun();
  const wrong = run.call('effects.keyed', { reff: 'x' });
  await expect(wrong).rejects.toBeInstanceOf(IntendantError);
  await expect(wrong).rejects.toMatchObject({ status: 422, code: 'invalid_arguments', nextAction: 'fix_arguments' });
  await expect(run.call('effects.kyed', {})).rejects.toMatchObject({ nextAction: 'choose_other_tool' });
  stack.upstream.behave({
    match: { bodyContains: `${run.runId} refused` },
    behaviour: { then: 'status:422', commit: false },
  });
  const failed = await run.call('effects.keyed', { ref: `${run.runId} refused` });
  expect(failed).toMatchObject({ status: 'failed', outcome: 'not_executed', error: { code: 'upstream_rejected' } });
  const agent = new Intendant({ url: stack.url }).run(run);
  expect((await agent.tools()).length).toBeGreaterThan(0);
  await expect(agent.close()).rejects.toThrow('service key');
});

test('waiting ends with the caller’s time or patience, and the same step goes on', async () => {
  const run = await openRun();
  stack.upstream.behave({ match: { bodyContains: run.runId }, behaviour: { delayMs: 400 } });
  const open = await run.call('effects.keyed', { ref: run.runId }, { stepId: 's1', wait: 0 });
  expect(open).toMatchObject({ outcome: 'undecided', stepId: 's1' });
  const hangUp = new AbortController();
  const waiting = run.call('effects.keyed', { ref: run.runId }, { stepId: 's1', signal: hangUp.signal });
  hangUp.abort();
  await expect(waiting).rejects.toBeInstanceOf(NoOutcomeYet);
  await expect(waiting).rejects.toMatchObject({ stepId: 's1', nextAction: 'check_outcome' });
  const done = await run.call('effects.keyed', { ref: run.runId }, { stepId: 's1', wait: 9_999.5 });
  expect(done).toMatchObject({ intentId: open.intentId, status: 'committed', replayed: true });
  expect(await effectsOf(done.intentId)).toBe(1);
});

test('a call that nobody can answer names its step, and a gateway that comes back answers it', async () => {
  const run = await openRun(throughProxy());
  proxy.partition();
  const lost = run.call('effects.keyed', { ref: run.runId }, { wait: 300 });
  await expect(lost).rejects.toMatchObject({ name: 'NoOutcomeYet', result: null, stepId: expect.any(String) });
  const call = run.call('effects.keyed', { ref: run.runId }, { stepId: 's1' });
  proxy.heal();
  expect(await call).toMatchObject({ status: 'committed' });
});

test.each<Reply>([
  { status: 503, body: '<html>busy</html>', headers: { 'retry-after': '0' } },
  { status: 200, body: '{}', headers: { 'content-type': 'application/json' } },
])('an answer that somebody in between made into $status is asked for again, under the same step', async (made) => {
  const opened = await openRun();
  const run = await through(opened, async ({ n }, pass) => {
    const answer = await pass();
    return n <= 2 ? made : answer;
  });
  const result = await run.call('effects.keyed', { ref: run.runId });
  expect(result).toMatchObject({ status: 'committed', replayed: true });
  expect(await stack.store.intents.list({ runId: run.runId, limit: 10 })).toHaveLength(1);
  expect(await effectsOf(result.intentId)).toBe(1);
});

test('a call whose answer is lost before its run is closed is not said to have left nothing, and its step is found', async () => {
  const opened = await openRun();
  const run = await through(opened, async ({ n }, pass) => {
    const answer = await pass();
    if (n > 1) return answer;
    await opened.close();
    return { status: 502 };
  });
  const error = await run.call('effects.keyed', { ref: run.runId }, { stepId: 's1' }).catch((thrown) => thrown);
  // Whether a gateway still answers about the step or refuses its run: never that nothing was recorded.
  if (error instanceof Error) expect(error).toMatchObject({ name: 'NoOutcomeYet', stepId: 's1', result: null });
  const found = await run.step('s1');
  expect(found).toEqual([expect.objectContaining({ status: 'committed', outcome: 'executed', stepId: 's1' })]);
  expect(await effectsOf(found[0]?.intentId ?? '')).toBe(1);
  expect(await run.step('s2')).toEqual([]);
});

test('events that end with the token, end with an error', async () => {
  const agent = await stack.agent({ expiresAt: Date.now() + 1_500 });
  await agent.submit('effects.approved', { ref: agent.runId, amount: 3 }, { stepId: 's1' });
  const seen: string[] = [];
  const following = (async () => {
    for await (const { type } of new Intendant({ url: stack.url }).run(agent).events()) seen.push(type);
  })();
  await expect(following).rejects.toMatchObject({ name: 'IntendantError', code: 'unauthenticated' });
  expect(seen).toEqual(['recorded', 'approval_requested']);
});

describe('a connection that is cut', () => {
  const sweep = async (run: Run, direction: 'to_server' | 'to_client', step: number) => {
    let cuts = 0;
    for (let bytes = 0; ; bytes += step) {
      const withdraw = new AbortController();
      const cut = proxy.cutOnce({ after: 'POST /v1/intents', direction, bytes }, withdraw.signal);
      const ref = `${run.runId} ${direction} ${bytes}`;
      const result = await run.call('effects.keyed', { ref });
      withdraw.abort();
      expect(result, ref).toMatchObject({ status: 'committed', outcome: 'executed' });
      expect(await effectsOf(result.intentId), ref).toBe(1);
      if (!(await cut)) return cuts;
      cuts += 1;
    }
  };

  test('anywhere in a request takes no effect twice, and the call returns the outcome', async () => {
    const run = await openRun(throughProxy());
    const cuts = await sweep(run, 'to_server', 37);
    expect(cuts).toBeGreaterThan(10);
    expect(await stack.store.intents.list({ runId: run.runId, limit: 200 })).toHaveLength(cuts + 1);
  }, 60_000);

  test('anywhere in an answer takes no effect twice, and the call returns the outcome', async () => {
    const run = await openRun(throughProxy());
    const cuts = await sweep(run, 'to_client', 23);
    expect(cuts).toBeGreaterThan(10);
    expect(await stack.store.intents.list({ runId: run.runId, limit: 200 })).toHaveLength(cuts + 1);
  }, 60_000);

  test('anywhere in a stream of events loses none and repeats none', async () => {
    const opened = await openRun();
    for (let i = 0; i < 3; i += 1) await opened.call('effects.keyed', { ref: `${opened.runId} ${i}` });
    await opened.close();
    const whole = await all(opened.events());
    expect(whole).toHaveLength(12);
    const run = new Intendant({ url: throughProxy() }).run(opened);
    for (let bytes = 0, cuts = 0; ; bytes += 131, cuts += 1) {
      const withdraw = new AbortController();
      const cut = proxy.cutOnce({ after: 'GET /v1/runs', direction: 'to_client', bytes }, withdraw.signal);
      expect(await all(run.events()), `cut after ${bytes} bytes`).toEqual(whole);
      withdraw.abort();
      if (await cut) continue;
      expect(cuts).toBeGreaterThan(20);
      return;
    }
  }, 60_000);
});
