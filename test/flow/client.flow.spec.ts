import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Intendant, IntendantError, NoOutcomeYet, type Run, type RunEvent } from '@intendant/client';
import { startTcpProxy, type TcpProxy } from '@intendant/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Stack, serviceKey } from './stack.js';

let stack: Stack;
let proxy: TcpProxy;
beforeAll(async () => {
  stack = await Stack.start();
  proxy = await startTcpProxy(Number(new URL(stack.url).port));
});
afterAll(async () => {
  await proxy?.close();
  await stack?.stop();
});

const budgets = { calls: 1_000, mutating: 1_000, destructive: 100, wallClock: '1h' };
const openRun = (url = stack.url) =>
  new Intendant({ url, serviceKey }).openRun({ user: 'ada', permissions: ['*'], profile: 'interactive', budgets });
const throughProxy = () => proxy.through(stack.url);
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

test('an answer that somebody in between made into 503 is asked for again, under the same step', async () => {
  let swallowed = 0;
  const front = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { authorization = '', prefer = '' } = incoming.headers;
    const answer = await fetch(stack.url + incoming.url, {
      method: incoming.method ?? 'GET',
      headers: { authorization, 'content-type': 'application/json', prefer: String(prefer) },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    const body = await answer.text();
    swallowed += 1;
    if (swallowed <= 2) return response.writeHead(503, { 'retry-after': '0' }).end('<html>busy</html>');
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  const opened = await openRun();
  const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  const result = await new Intendant({ url }).run(opened).call('effects.keyed', { ref: opened.runId });
  expect(result).toMatchObject({ status: 'committed', replayed: true });
  expect(await stack.store.intents.list({ runId: opened.runId, limit: 10 })).toHaveLength(1);
  expect(await effectsOf(result.intentId)).toBe(1);
  front.closeAllConnections();
  front.close();
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
