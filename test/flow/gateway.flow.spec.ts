import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { audit } from './audit.js';
import { badMessages } from './bad-messages.js';
import { eventually } from './eventually.js';
import { HttpClient } from './http-client.js';
import { operatorKey, Stack, serviceKey } from './stack.js';

let stack: Stack;
let client: HttpClient;
beforeAll(async () => {
  stack = await Stack.start({ services: ['gateway', 'policy', 'outbox-relay', 'dispatcher', 'reconciler'] });
  client = new HttpClient(() => stack.url);
});
afterAll(() => stack.stop());

const http: HttpClient['http'] = (...question) => client.http(...question);
const openRun: HttpClient['openRun'] = (...over) => client.openRun(...over);
const wait = { prefer: 'wait=20' };
const keyed = (ref: string, stepId = 's1') => ({ tool: 'effects.keyed', args: { ref }, stepId });
const recorded = (runId: string) => stack.store.intents.list({ runId, limit: 10 });

test('a run is opened, used and closed over HTTP, and its call takes effect once', async () => {
  const { runId, token } = await openRun();
  const tools = await http('GET', '/v1/tools?namespace=effects', token);
  expect(tools.body.tools.map((tool: { name: string }) => tool.name)).toContain('effects.keyed');
  expect(JSON.stringify(tools.body)).not.toMatch(/tenant_id|127\.0\.0\.1|keyRetention/);

  const first = await http('POST', '/v1/intents', token, { body: keyed('http'), headers: wait });
  expect(first).toMatchObject({
    status: 200,
    body: { runId, status: 'committed', outcome: 'executed', replayed: false },
  });
  expect(first.headers.get('preference-applied')).toBe('wait=20');
  const retry = await http('POST', '/v1/intents', token, {
    body: '{"stepId":"s1","args":{"ref":"http"},"tool":"effects.keyed"}',
  });
  expect(retry).toMatchObject({ status: 200, body: { ...first.body, replayed: true } });

  const { intentId } = first.body;
  const read = await http('GET', `/v1/intents/${intentId}`, token);
  expect(read).toMatchObject({ status: 200, body: first.body });
  const { events } = (await http('GET', `/v1/intents/${intentId}/events`, token)).body;
  expect(events.map((event: { type: string }) => event.type)).toEqual([
    'recorded',
    'authorized',
    'attempt_started',
    'committed',
  ]);
  expect(stack.effects(await stack.keyOf(intentId))).toHaveLength(1);

  expect((await http('POST', `/v1/runs/${runId}/close`, serviceKey)).status).toBe(204);
  const late = await http('POST', '/v1/intents', token, { body: keyed('http', 's2') });
  expect(late).toMatchObject({ status: 401, body: { error: { code: 'run_closed' } } });
});

test('a call by HTTP and the same call by NATS are one intent', async () => {
  const agent = await stack.agent();
  const byNats = await agent.submit('effects.keyed', { ref: 'both' }, { stepId: 's1', wait: '20s' });
  const byHttp = await http('POST', '/v1/intents', agent.token, { body: keyed('both'), headers: wait });
  expect(byHttp).toMatchObject({ status: 200, body: { ...byNats, replayed: true } });
});

test('a caller that does not wait gets the address where the outcome will be', async () => {
  const { token, runId } = await openRun();
  stack.upstream.behave({ match: { bodyContains: runId }, behaviour: { delayMs: 300 } });
  const headers = { prefer: 'wait=soon' };
  const submitted = await http('POST', '/v1/intents', token, { body: keyed(runId), headers });
  expect(submitted).toMatchObject({ status: 202, body: { outcome: 'undecided', data: null, error: null } });
  const { intentId, summary } = submitted.body;
  expect(summary).toContain(`Do not call it again; read intent ${intentId} or wait for its outcome.`);
  expect(submitted.headers.get('preference-applied')).toBeNull();

  const location = submitted.headers.get('location') ?? '';
  expect(await http('GET', location, token, { headers: wait })).toMatchObject({
    status: 200,
    body: { status: 'committed' },
  });
  const stranger = await openRun();
  expect(await http('GET', location, stranger.token)).toMatchObject({
    status: 404,
    body: { error: { code: 'not_found' } },
  });
});

test('what is on the wire is aborted by a cancel, which answers with what really happened (T9)', async () => {
  const { token, runId } = await openRun();
  stack.upstream.behave({ match: { bodyContains: runId }, behaviour: { then: 'hang' } });
  const body = { ...keyed(runId), tool: 'effects.late' };
  const { intentId } = (await http('POST', '/v1/intents', token, { body })).body;
  await stack.upstream.waitForRequest({ key: await stack.keyOf(intentId) }, 20_000);

  const cancelling = await http('POST', `/v1/intents/${intentId}/cancel`, token);
  const words = 'effects.late is being cancelled for ada: it may have happened already, which is being found out.';
  expect(cancelling).toMatchObject({ status: 202, body: { summary: expect.stringContaining(words) } });
  const outcome = await http('POST', `/v1/intents/${intentId}/cancel`, token, { headers: wait });
  expect(outcome).toMatchObject({ status: 200, body: { status: 'committed', outcome: 'executed' } });
});

test('a conflict and a denial are problems that say what to do, and the denial is an intent', async () => {
  const { token } = await openRun();
  await http('POST', '/v1/intents', token, { body: keyed('one'), headers: wait });
  const conflict = await http('POST', '/v1/intents', token, { body: keyed('two'), headers: wait });
  expect(conflict).toMatchObject({
    status: 422,
    body: { type: 'urn:intendant:error:idempotency_conflict', status: 422 },
  });
  expect(conflict.headers.get('content-type')).toContain('application/problem+json');

  const weak = await openRun({ permissions: ['orders:read'] });
  const denied = await http('POST', '/v1/intents', weak.token, { body: keyed('one') });
  expect(denied).toMatchObject({
    status: 403,
    body: { status: 'denied', replayed: false, error: { code: 'permission_denied' } },
  });
  const again = await http('POST', '/v1/intents', weak.token, { body: keyed('one') });
  expect(again).toMatchObject({ status: 403, body: { ...denied.body, replayed: true } });
  expect(stack.requests(await stack.keyOf(denied.body.intentId))).toEqual([]);
});

describe.concurrent('a body that cannot be admitted is a problem, and nothing is recorded:', () => {
  for (const { what, payload, code } of badMessages) {
    test(what, async () => {
      const { token, runId } = await openRun();
      const answer = await http('POST', '/v1/intents', token, {
        body: typeof payload === 'string' ? payload : Uint8Array.from(payload),
      });
      expect(answer).toMatchObject({
        status: what === '300 KiB' ? 413 : code === 'invalid_message' ? 400 : 422,
        body: { error: { code, nextAction: 'fix_arguments' } },
      });
      expect(answer.headers.get('content-type')).toContain('application/problem+json');
      expect(await recorded(runId)).toEqual([]);
    });
  }

  test('one that is not declared as JSON, and one whose Idempotency-Key is no step, or another one', async () => {
    const { token, runId } = await openRun();
    const wrong: [number, Record<string, string>][] = [
      [415, { 'content-type': 'text/plain' }],
      [400, { 'idempotency-key': '' }],
      [400, { 'idempotency-key': 'two words' }],
      [400, { 'idempotency-key': 'another-step' }],
    ];
    for (const [status, headers] of wrong) {
      const answer = await http('POST', '/v1/intents', token, { body: keyed('a'), headers });
      expect(answer).toMatchObject({ status, body: { error: { code: 'invalid_message' } } });
    }
    expect(await recorded(runId)).toEqual([]);
  });
});

test('an Idempotency-Key is the step of a message without one, by the rules of every step', async () => {
  const { token, runId } = await openRun();
  const { stepId: _, ...body } = keyed(runId);
  const send = (key: string, what: object = body) =>
    http('POST', '/v1/intents', token, { body: what, headers: { ...wait, 'idempotency-key': key } });
  const first = await send('"step-1"');
  expect(first).toMatchObject({ status: 200, body: { stepId: 'step-1', replayed: false } });
  const { intentId } = first.body;
  expect(await send('step-1')).toMatchObject({ status: 200, body: { intentId, replayed: true } });
  expect(await send('step-1', { ...body, stepId: 'step-1' })).toMatchObject({ body: { intentId, replayed: true } });
  expect(await send('step-1', { ...body, args: { ref: `${runId} other` } })).toMatchObject({
    status: 422,
    body: { error: { code: 'idempotency_conflict' } },
  });
  expect((await send('step-2')).body.intentId).not.toBe(intentId);
  expect(await recorded(runId)).toHaveLength(2);
});

describe('an intent of a tool without any guarantee, whose answer was lost', () => {
  async function deadLetter() {
    const { token, runId } = await openRun();
    stack.upstream.behave({ match: { bodyContains: runId }, behaviour: { then: 'reset', commit: false } });
    const submitted = await http('POST', '/v1/intents', token, {
      body: { ...keyed(runId), tool: 'effects.blind' },
      headers: wait,
    });
    expect(submitted).toMatchObject({
      status: 202,
      body: { status: 'dead_lettered', outcome: 'unknown', error: { nextAction: 'ask_human' } },
    });
    return { token, intentId: submitted.body.intentId as string };
  }
  const resolve = (intentId: string, credential: string, body: object) =>
    http('POST', `/v1/intents/${intentId}/resolve`, credential, { body });

  test('waits for a person, and its replay is refused', async () => {
    const { token, intentId } = await deadLetter();
    const listed = await http('GET', '/v1/dead-letters', operatorKey);
    expect(listed.body.intents.map((intent: { intentId: string }) => intent.intentId)).toContain(intentId);
    const shown = await http('GET', `/v1/dead-letters/${intentId}`, operatorKey);
    expect(shown.body.actions).toContainEqual({
      action: 'replay',
      possible: false,
      reason: expect.stringContaining('no key and no lookup'),
    });

    const replay = await http('POST', '/v1/dead-letters/replay', operatorKey, {
      body: { ids: [intentId], reason: 'again' },
    });
    expect(replay).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict', details: { reason: 'not_replayable' } } },
    });
    expect(stack.requests(await stack.keyOf(intentId))).toHaveLength(1);

    const evidence = { outcome: 'executed', externalId: 'T-7', evidence: 'seen in the ticket system' };
    expect((await resolve(intentId, token, evidence)).status).toBe(403);
    expect(await resolve(intentId, operatorKey, evidence)).toMatchObject({
      status: 200,
      body: { status: 'committed', outcome: 'executed' },
    });
    expect(await resolve(intentId, operatorKey, evidence)).toMatchObject({
      status: 200,
      body: { status: 'committed', outcome: 'executed' },
    });
    expect(await resolve(intentId, operatorKey, { ...evidence, evidence: 'another story' })).toMatchObject({
      status: 409,
      body: { error: { details: { reason: 'not_resolvable' } } },
    });
    const { events } = (await http('GET', `/v1/intents/${intentId}/events`, operatorKey)).body;
    expect(events).toContainEqual(expect.objectContaining({ type: 'resolved', by: 'olga', ...evidence }));
  });

  test('can be resolved as not executed once the upstream cannot act any more, and is never sent', async () => {
    const { token, intentId } = await deadLetter();
    const evidence = { outcome: 'not_executed', evidence: 'looked through all of them' };
    const early = await resolve(intentId, operatorKey, evidence);
    expect(early).toMatchObject({
      status: 409,
      body: { error: { details: { reason: 'too_early', notBefore: expect.any(String) } } },
    });
    const resolved = await eventually('it can be resolved', async () => {
      const answer = await resolve(intentId, operatorKey, evidence);
      return answer.status === 200 ? answer : null;
    });
    expect(resolved.body).toMatchObject({
      status: 'failed',
      outcome: 'not_executed',
      error: {
        code: 'resolved_not_executed',
        nextAction: 'stop',
        message: expect.stringMatching(/not happen|no effect/),
      },
    });
    expect(await http('GET', `/v1/intents/${intentId}`, token)).toMatchObject({
      status: 200,
      body: { status: 'failed' },
    });
    expect(stack.requests(await stack.keyOf(intentId))).toHaveLength(1);
  });
});

test('an operator has the sweepers run', async () => {
  expect((await http('POST', '/v1/reconcile', operatorKey)).body).toMatchObject({ 'settle-unknown': { failed: 0 } });
});

test('in the end log, read model and ledger agree', async () => {
  expect(await audit(stack)).toEqual([]);
});
