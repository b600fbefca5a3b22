import type { RpcRequest } from '@intendant/bus';
import { errorObject, Refusal, subjects } from '@intendant/contracts';
import { createDatabase, type NatsServer, startNats, type TestDatabase } from '@intendant/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  answerOn,
  type CallOptions,
  environment,
  keys,
  startGateway,
  type TestGateway,
  tokenFor,
} from './gateway.spec-helper.js';

const runId = 'run_01JD8Q3M1A9S8D7F6G5H4J3K2Z';
const intentId = '01JD8Q4Y6V2N7XK3T5W9ZB1CEF';
const result = {
  ...{ intentId, runId, stepId: 's1', tool: 'orders.get', status: 'committed', outcome: 'executed', replayed: false },
  ...{ data: { n: 1 }, summary: null, handle: null, error: null },
};

describe('proposing a call', () => {
  let nats: NatsServer;
  let database: TestDatabase;
  let gateway: TestGateway;
  let token: string;
  const stops: (() => Promise<void>)[] = [];
  const message = { tool: 'orders.get', args: { id: 1 }, stepId: 's1' };
  const submit = (options: CallOptions = { body: message }) => gateway.call('POST', '/v1/intents', token, options);
  const policy = async (handle: (request: RpcRequest) => unknown, subject: string = subjects.rpcSubmit) => {
    const requests: RpcRequest[] = [];
    stops.push(
      await answerOn(nats.url, subject, (request) => {
        requests.push(request);
        return handle(request);
      }),
    );
    return requests;
  };

  beforeAll(async () => {
    [nats, database, token] = await Promise.all([startNats(), createDatabase(), tokenFor(runId)]);
    gateway = await startGateway(environment(database.url, nats.url));
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });
  afterAll(async () => {
    await gateway?.close();
    await Promise.all([nats?.stop(), database?.drop()]);
  });

  it('hands the bytes on as they came, with the credential, the trace and the wait', async () => {
    const requests = await policy(() => result);
    const body = '{ "tool": "orders.get",  "args": {"n": 12345678901234567890, "n": 1} }';
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const answer = await submit({ body, headers: { traceparent, prefer: 'respond-async, wait=99' } });
    expect(answer).toMatchObject({ status: 200, body: result });
    expect(answer.headers.get('preference-applied')).toBe('wait=30');
    expect(answer.headers.get('content-type')).toContain('application/json');
    const [request] = requests;
    expect(Buffer.from(request?.payload ?? []).toString()).toBe(body);
    const header = (name: string) => request?.headers.get(name);
    expect([header('Authorization'), header('traceparent'), header('Intendant-Wait')]).toEqual([
      `Bearer ${token}`,
      traceparent,
      '30s',
    ]);
  });

  it('leaves out a trace and a wait that cannot be read', async () => {
    const requests = await policy(() => result);
    const answer = await submit({ body: message, headers: { traceparent: 'x', prefer: 'wait=soon' } });
    expect(answer.headers.get('preference-applied')).toBeNull();
    expect([requests[0]?.headers.get('traceparent'), requests[0]?.headers.get('Intendant-Wait')]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('answers 202 and where to look while the outcome is open', async () => {
    await policy(() => ({
      ...result,
      status: 'unknown',
      outcome: 'unknown',
      data: null,
      error: errorObject('outcome_unknown', 'Not known yet.'),
    }));
    const { status, headers, body } = await submit();
    expect(status).toBe(202);
    expect(headers.get('location')).toBe(`/v1/intents/${intentId}`);
    expect(body).toMatchObject({ status: 'unknown', error: { code: 'outcome_unknown' } });
  });

  it('answers a denied intent as a problem that is still its result', async () => {
    await policy(() => ({
      ...result,
      status: 'denied',
      outcome: 'not_executed',
      data: null,
      error: errorObject('permission_denied', 'Not allowed.'),
    }));
    const { status, headers, body } = await submit();
    expect(status).toBe(403);
    expect(headers.get('content-type')).toContain('application/problem+json');
    expect(body).toMatchObject({
      ...{ intentId, status: 'denied', outcome: 'not_executed' },
      ...{ type: 'urn:intendant:error:permission_denied', title: 'Permission denied', detail: 'Not allowed.' },
      error: { code: 'permission_denied' },
    });
  });

  it('passes a refusal on with its details', async () => {
    await policy(() => {
      throw new Refusal('unknown_tool', 'There is no tool of this name.', { suggestion: 'orders.get' });
    });
    const { status, body } = await submit();
    expect(status).toBe(404);
    expect(body).toMatchObject({
      status: 404,
      detail: 'There is no tool of this name.',
      error: { details: { suggestion: 'orders.get' } },
    });
  });

  it('says that nothing was recorded when there is no policy service', async () => {
    const { status, headers, body } = await submit();
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('1');
    expect(body).toMatchObject({ error: { code: 'unavailable', retryable: true, nextAction: 'wait' } });
    expect(body['detail']).toContain('Nothing was recorded; the same call can be made again later.');
  });

  it.each<[string, CallOptions, string]>([
    ['no body', {}, 'There is no body'],
    [
      'an Idempotency-Key that is no step',
      { body: message, headers: { 'idempotency-key': 'two words' } },
      'printable ASCII characters without spaces',
    ],
    ['an open quote', { body: message, headers: { 'idempotency-key': '"call_1' } }, 'quotes around all of it, or none'],
    ['a quote at the end', { body: message, headers: { 'idempotency-key': 'call_1"' } }, 'quotes around all of it'],
    ['a quote alone', { body: message, headers: { 'idempotency-key': '"' } }, 'quotes around all of it'],
  ])('refuses %s as an invalid message, before anything is recorded', async (_, options, text) => {
    const requests = await policy(() => result);
    const { status, body } = await submit(options);
    expect(status).toBe(text.startsWith('262144') ? 413 : 400);
    expect(body).toMatchObject({ error: { code: 'invalid_message' }, detail: expect.stringContaining(text) });
    expect(requests).toEqual([]);
  });

  it('refuses a body above the limit with 413, before anything is recorded', async () => {
    const requests = await policy(() => result);
    const body = JSON.stringify({ ...message, args: { text: 'x'.repeat(262_144) } });
    expect(await submit({ body })).toMatchObject({
      status: 413,
      body: { error: { code: 'invalid_message' }, detail: expect.stringContaining('262144 bytes at most') },
    });
    expect(requests).toEqual([]);
  });

  it.each([
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['plain text', { 'content-type': 'text/plain' }],
    ['plain text in an alphabet', { 'content-type': 'text/plain; charset=utf-8' }],
    ['what is compressed', { 'content-encoding': 'gzip' }],
  ])('refuses %s with 415, before anything is recorded', async (_, headers) => {
    const requests = await policy(() => result);
    const { status, body } = await submit({ body: JSON.stringify(message), headers });
    expect({ status, body }).toMatchObject({
      status: 415,
      body: { status: 415, error: { code: 'invalid_message', message: expect.stringContaining('application/json') } },
    });
    expect(requests).toEqual([]);
  });

  it.each(['"s-1"', 's-1'])('passes the Idempotency-Key %s on as the step beside the message', async (key) => {
    const requests = await policy(() => result);
    expect((await submit({ body: message, headers: { 'idempotency-key': key } })).status).toBe(200);
    expect(requests[0]?.headers.get('Intendant-Step')).toBe('s-1');
    expect(JSON.parse(Buffer.from(requests[0]?.payload ?? []).toString())).toEqual(message);
  });

  it('is for run tokens only', async () => {
    const requests = await policy(() => result);
    const as = (credential: string | null) => gateway.call('POST', '/v1/intents', credential, { body: message });
    expect(await as(null)).toMatchObject({ status: 401, body: { error: { code: 'unauthenticated' } } });
    expect(await as('wrong')).toMatchObject({ status: 401 });
    expect(await as(await tokenFor(runId, 'acme', -1_000))).toMatchObject({
      status: 401,
      body: { detail: expect.stringContaining('expired') },
    });
    expect(await as(keys.service)).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('open a run') },
    });
    expect(await as(keys.operator)).toMatchObject({ status: 403 });
    expect(requests).toEqual([]);
  });

  it('lists the tools of the run', async () => {
    const requests = await policy(() => ({ tools: [{ name: 'orders.get' }] }), subjects.rpcTools);
    const answer = await gateway.call('GET', '/v1/tools?query=order&namespace=orders', token);
    expect(answer).toMatchObject({ status: 200, body: { tools: [{ name: 'orders.get' }] } });
    expect(JSON.parse(Buffer.from(requests[0]?.payload ?? []).toString())).toEqual({
      query: 'order',
      namespace: 'orders',
    });
    expect(await gateway.call('GET', '/v1/tools?querry=x', token)).toMatchObject({ status: 400 });
  });
});
