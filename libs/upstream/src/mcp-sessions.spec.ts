import { until } from '@intendant/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { McpExchange } from './mcp-exchange.js';
import { McpServerOverHttp, type ServeCall } from './mcp-server.spec-helper.js';
import { McpSessions, type SessionLimits } from './mcp-sessions.js';
import { Pools } from './pools.js';

const long = 600_000;

let server: McpServerOverHttp;
let serve: ServeCall;
let pools: Pools;
let sessions: McpSessions;

beforeEach(async () => {
  serve = () => ({ content: [] });
  server = await McpServerOverHttp.start((served) => serve(served));
  pools = new Pools();
});
afterEach(async () => {
  await sessions.close();
  await pools.close();
  await server.stop();
});

function open(limits: SessionLimits): void {
  sessions = new McpSessions(pools, 100_000, limits);
}
const of = (token: string) =>
  sessions.get({
    server: { transport: 'http', url: server.url, headers: {} },
    credential: { header: { name: 'Authorization', value: token }, secret: token },
    ...{ cwd: '.', connectMs: 5_000 },
  });

test('a session that nobody uses ends by itself, also when no other is wanted', async () => {
  open({ idleMs: 50, most: 64 });
  await Promise.all([of('one'), of('two')]);
  expect(server.count('initialize')).toBe(2);
  await until(() => server.sessions === 0, 'the server has heard of both ends');
});

test('beyond the most, the session that was used longest ago ends', async () => {
  open({ idleMs: long, most: 2 });
  const [one, two] = [await of('one'), await of('two')];
  expect(await of('one')).toBe(one);
  await of('three');
  await until(() => server.sessions === 2, 'the server has heard of the end of one');
  expect(await of('one')).toBe(one);
  expect(await of('two')).not.toBe(two);
});

test('a session with an open call is none of those that end', async () => {
  open({ idleMs: long, most: 1 });
  const one = await of('one');
  const answer = await new Promise<() => void>((arrived) => {
    serve = () => new Promise((resolve) => arrived(() => resolve({ content: [] })));
    const limits = { connectMs: 5_000, callMs: long, maxBytes: 100_000 };
    one.ask(new McpExchange({ ...limits, mayStart: () => true }), { name: 'act', arguments: {} });
  });
  await of('two');
  expect(await of('one')).toBe(one);
  answer();
  await until(() => !one.busy, 'the call is done');
  await of('three');
  await until(() => server.sessions === 1, 'those that are idle end, both');
});
