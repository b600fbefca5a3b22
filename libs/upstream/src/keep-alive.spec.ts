import { MisbehavingServer, response, toolAt } from '@intendant/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { attempt } from './asking.spec-helper.js';
import { Upstreams } from './index.js';

let server: MisbehavingServer;
let adapter: Upstreams;

beforeEach(async () => {
  server = await MisbehavingServer.start();
  adapter = new Upstreams(() => null);
});
afterEach(async () => {
  await adapter.close();
  await server.stop();
});

/** undici takes a connection back one turn of the event loop after the answer; a call before that gets a new one. */
async function idle() {
  for (let turn = 0; turn < 3; turn++) await new Promise((done) => setImmediate(done));
}

const call = (attemptId: string, method: 'POST' | 'GET' = 'POST') =>
  adapter.call(
    {
      tool: toolAt(server.url, { upstream: { method, body: method === 'GET' ? null : '$args' } }),
      args: { n: 1 },
      key: 'k',
      intentId: 'i',
      tenant: 't',
      runId: 'run_1',
      attemptId,
      sandbox: false,
    },
    { mayStart: () => true },
  );

test.each(['POST', 'GET'] as const)(
  'a %s on a reused connection that is reset after the full request is sent once',
  async (method) => {
    await call('a-1', method);
    await idle();
    server.script({ at: 'request', then: 'reset' });
    expect(await call('a-2', method)).toMatchObject({ kind: 'unknown', cause: 'reset_after_send' });
    await idle();
    expect(await call('a-3', method)).toMatchObject({ kind: 'executed' });
    expect(server.requests.map((request) => request.connection)).toEqual([1, 1, 2]);
    expect(server.wireRequests('a-2')).toBe(1);
  },
);

test.each(['headers', 'request'] as const)(
  'a reused connection that is closed after the %s gets no second try',
  async (at) => {
    await call('a-1');
    await idle();
    server.script({ at, then: 'close' });
    expect(await call('a-2')).toMatchObject({ kind: 'unknown', cause: 'reset_after_send' });
    await adapter.close();
    expect(server.requests.map((request) => request.connection)).toEqual([1, 1]);
  },
);

test('a connection that the upstream closed while idle is replaced before the next request', async () => {
  await call('a-1');
  await server.closeConnections();
  expect(await call('a-2')).toMatchObject({ kind: 'executed' });
  expect(server.requests.map((request) => request.connection)).toEqual([1, 2]);
});

test.each(['resetConnections', 'endConnections'] as const)(
  'after %s in the very moment of the next request, one request never becomes two',
  async (leave) => {
    await call('a-0');
    for (let n = 1; n <= 50; n++) {
      await idle();
      server[leave]();
      const verdict = await call(`a-${n}`);
      // Whatever was sent has arrived by the time the answer or the reset is here.
      const requests = server.wireRequests(`a-${n}`);
      expect(requests).toBeLessThanOrEqual(1);
      if (verdict.kind === 'not_executed')
        expect({ requests, sent: verdict.sent }).toEqual({ requests: 0, sent: false });
      if (verdict.kind === 'executed') expect(requests).toBe(1);
    }
  },
);

test.each(['reset', 'close'] as const)(
  'a reused connection that does %s as soon as the first byte of the request is there gets no second try',
  async (then) => {
    const bodies = ['', 'x'.repeat(3_000_000)];
    for (const [n, text] of bodies.entries()) {
      await call(`warm-${n}`);
      await idle();
      server.script({ at: 'headers', then });
      const tool = toolAt(server.url);
      const verdict = await adapter.call(attempt(tool, `a-${n}`, { args: { text } }), { mayStart: () => true });
      expect(verdict).toMatchObject({ kind: 'unknown', cause: 'reset_after_send' });
      await idle();
      expect(server.wireRequests(`a-${n}`)).toBe(1);
    }
  },
);

test('an answer that forbids reuse is obeyed', async () => {
  server.script({ at: 'request', send: response(200, '{}', { connection: 'close' }), then: 'close' });
  await call('a-1');
  expect(await call('a-2')).toMatchObject({ kind: 'executed' });
  expect(server.requests.map((request) => request.connection)).toEqual([1, 2]);
});

test('calls at the same time do not wait for each other, and share no connection', async () => {
  server.script(...Array.from({ length: 20 }, () => ({ at: 'request', then: 'hang' }) as const));
  const controllers = Array.from({ length: 20 }, () => new AbortController());
  const tool = toolAt(server.url);
  const calls = controllers.map(({ signal }, n) =>
    adapter.call(
      { tool, args: {}, key: 'k', intentId: 'i', tenant: 't', runId: 'run_1', attemptId: `a-${n}`, sandbox: false },
      { mayStart: () => true, signal },
    ),
  );
  await server.seen(20);
  for (const controller of controllers) controller.abort();
  for (const verdict of await Promise.all(calls)) expect(verdict).toMatchObject({ kind: 'unknown', cause: 'aborted' });
  expect(new Set(server.requests.map((request) => request.connection)).size).toBe(20);
});
