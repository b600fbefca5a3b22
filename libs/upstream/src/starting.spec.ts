import { MetricsModule } from '@intendant/runtime';
import { MisbehavingServer, type ToolChanges, toolAt } from '@intendant/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { asking } from './asking.spec-helper.js';
import { type ExchangeOptions, exchange } from './exchange.js';
import type { WireRequest } from './http-request.js';
import { type CallOptions, Upstreams } from './index.js';
import { Pools } from './pools.js';

let server: MisbehavingServer;
let adapter: Upstreams;
let pools: Pools;

beforeEach(async () => {
  server = await MisbehavingServer.start();
  adapter = new Upstreams(() => null);
  pools = new Pools();
});
afterEach(async () => {
  // In this order: the adapter waits for connections in the making, which end with the server.
  await server.stop();
  await adapter.close();
  await pools.close();
});

const call = (options: Partial<CallOptions>, changes: ToolChanges = {}, url = server.url, sandbox = false) =>
  adapter.call(
    {
      tool: toolAt(url, changes),
      args: { n: 1 },
      key: 'k',
      intentId: 'i',
      tenant: 't',
      runId: 'run_1',
      attemptId: 'a-1',
      sandbox,
    },
    { mayStart: () => true, ...options },
  );

/** One exchange through a pool that would wait a minute for its connection. */
function direct(origin: string, options: Partial<ExchangeOptions>) {
  const pool = pools.get(origin, 60_000);
  if (pool === null) throw new Error('closed');
  const wire: WireRequest = { origin, method: 'POST', path: '/act', headers: [], body: '{}', attemptId: 'a-1' };
  return exchange(pool, wire, { connectMs: 5_000, callMs: 5_000, maxBytes: 1_000, mayStart: () => true, ...options });
}

/** Accepts connections and never says a word, so that a TLS connection is for ever being made. */
const stuck = () => {
  server.script({ at: 'accept', then: 'hang' });
  return server.url.replace('http:', 'https:');
};

test('a lease that is over when the connection stands sends nothing', async () => {
  expect(await call({ mayStart: () => false })).toMatchObject({
    kind: 'not_executed',
    sent: false,
    cause: 'lease_over',
    transient: true,
  });
  await adapter.close();
  expect(server.connections).toBe(1);
  expect(server.requests).toEqual([]);
});

test('a lease that cannot be checked sends nothing', async () => {
  const verdict = await call({
    mayStart: () => {
      throw new Error('no clock');
    },
  });
  expect(verdict).toMatchObject({
    kind: 'not_executed',
    sent: false,
    cause: 'lease_over',
    detail: expect.stringContaining('no clock'),
  });
  await adapter.close();
  expect(server.requests).toEqual([]);
});

test('the lease is asked for once, before the bytes, and the sending is told once', async () => {
  const order: string[] = [];
  const onSend = () => order.push('send');
  const mayStart = () => order.push('may start') > 0;
  expect(await call({ mayStart, onSend })).toMatchObject({ kind: 'executed' });
  expect(order).toEqual(['may start', 'send']);
});

test('a listener that fails does not disturb the call', async () => {
  const onSend = () => {
    throw new Error('listener');
  };
  expect(await call({ onSend })).toMatchObject({ kind: 'executed' });
});

test('a connection that does not come up in time is proof that nothing was sent', async () => {
  const verdict = await call({}, { limits: { connectMs: 100 } }, stuck());
  expect(verdict).toMatchObject({ kind: 'not_executed', sent: false, cause: 'connect_timeout', transient: true });
});

test("the connect limit does not wait for the client's own", async () => {
  const result = await direct(stuck(), { connectMs: 100 });
  expect(result).toMatchObject({ kind: 'connect_timeout', sent: false });
});

test('a call limit that ends before the connection stands is proof that nothing was sent', async () => {
  const verdict = await call({}, { limits: { connectMs: 5_000, callMs: 50 } }, stuck());
  expect(verdict).toMatchObject({ kind: 'not_executed', sent: false, cause: 'call_timeout_unsent', transient: true });
});

test('a call that was given up while it waited for its connection is not sent when the connection stands', async () => {
  const controller = new AbortController();
  const pending = direct(server.url, { signal: controller.signal });
  controller.abort();
  expect(await pending).toMatchObject({ kind: 'aborted', sent: false });
  // Waits for the request that is still queued in the pool.
  await pools.close();
  expect(server.connections).toBe(1);
  expect(server.requests).toEqual([]);
});

test('an abort before the connection stands is proof that nothing was sent', async () => {
  const controller = new AbortController();
  const pending = call({ signal: controller.signal }, { limits: { connectMs: 5_000 } }, stuck());
  setImmediate(() => controller.abort());
  expect(await pending).toMatchObject({ kind: 'not_executed', sent: false, cause: 'aborted_unsent' });
});

test('an abort that came first sends nothing', async () => {
  expect(await call({ signal: AbortSignal.abort() })).toMatchObject({
    kind: 'not_executed',
    sent: false,
    cause: 'aborted_unsent',
  });
  expect(server.connections).toBe(0);
});

test('an abort after the bytes left leaves the outcome unknown', async () => {
  server.script({ at: 'request', then: 'hang' });
  const controller = new AbortController();
  const pending = call({ signal: controller.signal });
  await server.seen(1);
  controller.abort();
  expect(await pending).toMatchObject({ kind: 'unknown', cause: 'aborted' });
});

test('a sandbox call never goes to the real address', async () => {
  expect(await call({}, {}, server.url, true)).toMatchObject({
    kind: 'not_executed',
    sent: false,
    cause: 'no_sandbox',
    transient: false,
  });
  expect(server.connections).toBe(0);
});

test('attempts that end before anything is asked of an adapter are counted, too', async () => {
  const tool = toolAt(server.url, { tool: { name: 'counted.when.unsent' }, upstream: { credential: 'nobody' } });
  const request = { ...asking(tool), attemptId: 'a-1' };
  expect(await adapter.call({ ...request, sandbox: true }, { mayStart: () => true })).toMatchObject({
    cause: 'no_sandbox',
  });
  expect(await adapter.call(request, { mayStart: () => true })).toMatchObject({ cause: 'credential_unavailable' });
  const [Metrics] = Reflect.getMetadata('controllers', MetricsModule);
  expect(await new Metrics().read()).toContain(
    'intendant_attempts_total{tool="counted.when.unsent",verdict="not_executed"} 2',
  );
});

test('a closed adapter sends nothing', async () => {
  await adapter.close();
  expect(await call({})).toMatchObject({ kind: 'not_executed', sent: false, cause: 'client_closed', transient: true });
  expect(server.connections).toBe(0);
});
