import net from 'node:net';
import { type Bus, commitHints, connectBus } from '@intendant/bus';
import type { Command, Proposal } from '@intendant/intent';
import { Store } from '@intendant/store';
import { createDatabase, type NatsServer, proposal, startNats, type TestDatabase } from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Frame, frames, take } from './event-stream.spec-helper.js';
import { environment, keys, startGateway, type TestGateway, tokenFor } from './gateway.spec-helper.js';

let nats: NatsServer;
let database: TestDatabase;
let gateway: TestGateway;
let bus: Bus;
let store: Store;

beforeAll(async () => {
  [nats, database] = await Promise.all([startNats(), createDatabase()]);
  gateway = await startGateway(environment(database.url, nats.url));
  bus = await connectBus({ url: nats.url, name: 'spec' });
  store = await Store.open({ url: database.url, name: 'spec' }, { committed: commitHints(bus) });
});
afterAll(async () => {
  await gateway?.close();
  await store?.close();
  await bus?.close();
  await Promise.all([nats?.stop(), database?.drop()]);
});

const execute = (intentId: string, command: Command) => store.door.execute({ intentId, command });
const record = async (over: Partial<Proposal> = {}) => {
  const p = proposal(over);
  await execute(p.intentId, { type: 'record', proposal: p, ruling: { allow: true } });
  return p;
};
const start = (intentId: string, attemptId = ulid()) =>
  execute(intentId, { type: 'start_attempt', attemptId }).then(() => attemptId);
const commit = (intentId: string, attemptId: string) =>
  execute(intentId, {
    type: 'record_verdict',
    attemptId,
    verdict: { kind: 'executed', data: { ok: true } },
    jitter: 0,
  });
const settle = async (intentId: string) => commit(intentId, await start(intentId));
const openRun = async () => {
  const id = `run_${ulid()}`;
  const run = { id, tenant: 'acme', user: 'ada', profile: 'batch', permissions: [], phase: null } as const;
  await store.runs.open({ ...run, openedBy: 'spec' }, 3_600_000);
  return id;
};

async function follow(path: string, token: string, after?: string, signal?: AbortSignal): Promise<Response> {
  return fetch(gateway.url + path, {
    headers: {
      accept: 'text/event-stream',
      authorization: `Bearer ${token}`,
      ...(after !== undefined && { 'last-event-id': after }),
    },
    ...(signal && { signal }),
  });
}
const ids = (all: readonly Frame[]) => all.map(({ id }) => id);
const names = (all: readonly Frame[]) => all.map(({ event }) => event);

describe('the events of an intent as a stream', () => {
  it('are told as they happen, as in the list, and end when it is over', async () => {
    const { intentId, runId } = await record({ injected: { agent_user: 'ada' } });
    const token = await tokenFor(runId);
    const path = `/v1/intents/${intentId}/events`;
    const response = await follow(path, token);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const told: Frame[] = [];
    for await (const frame of frames(response)) {
      told.push(frame);
      if (frame.event === 'authorized') await settle(intentId);
    }
    const types = ['recorded', 'authorized', 'attempt_started', 'committed'];
    expect(names(told)).toEqual([...types, 'end']);
    expect(ids(told)).toEqual(['1', '2', '3', '4', null]);
    expect(told.at(-1)?.data).toEqual({ reason: 'over' });
    const { body } = await gateway.call('GET', path, token);
    expect(told.slice(0, -1).map(({ data }) => data)).toEqual(body['events']);
    expect(JSON.stringify(told)).not.toContain('agent_user');
    expect(JSON.stringify(await take(await follow(path, keys.viewer)))).toContain('agent_user');
  });

  it('go on after any of them without loss or repetition, and there is nothing to connect to in the end', async () => {
    const { intentId, runId } = await record();
    const token = await tokenFor(runId);
    await settle(intentId);
    const path = `/v1/intents/${intentId}/events`;
    const all = ids(await take(await follow(path, token)));
    for (const [i, id] of all.slice(0, -2).entries()) {
      expect(ids(await take(await follow(path, token, id ?? '')))).toEqual(all.slice(i + 1));
    }
    expect((await follow(path, token, '4')).status).toBe(204);
    for (const place of ['x', '5', '999999999']) {
      const wrong = await follow(path, token, place);
      expect([wrong.status, await wrong.json()]).toMatchObject([400, { error: { code: 'invalid_message' } }]);
    }
    expect((await follow(path, await tokenFor(`run_${ulid()}`))).status).toBe(404);
  });

  it('end with the token', async () => {
    const { intentId, runId } = await record();
    const response = await follow(`/v1/intents/${intentId}/events`, await tokenFor(runId, 'acme', 2_500));
    expect((await take(response)).at(-1)).toEqual({ id: null, event: 'end', data: { reason: 'token_expired' } });
  });
});

describe('the events of a run as a stream', () => {
  it('do not go on after a place that is none of this run', async () => {
    const [runId, other] = [await openRun(), await openRun()];
    for (const each of [runId, other]) await settle((await record({ runId: each })).intentId);
    const read = async (of: string, query: string) =>
      gateway.call('GET', `/v1/runs/${of}/events?${query}`, await tokenFor(of));
    // What other transactions on the server hold up is told later.
    const told = (of: string) => expect.poll(async () => (await read(of, 'limit=50')).body['events']).toHaveLength(4);
    await Promise.all([told(runId), told(other)]);
    const first = `${(await read(runId, 'limit=1')).body['nextCursor']}`;
    const [xid = '', intentId = ''] = first.split('.');
    expect((await read(runId, `cursor=${first}`)).body['events']).toHaveLength(3);
    const ofOther = `${(await read(other, 'limit=1')).body['nextCursor']}`;
    for (const place of [
      ofOther,
      `${xid}.${intentId}.5`,
      `${xid}.${intentId}.0`,
      `${Number(xid) + 1000}.${intentId}.1`,
    ]) {
      const stream = await follow(`/v1/runs/${runId}/events`, await tokenFor(runId), place);
      const error = { code: 'invalid_message', message: expect.stringContaining('no event of this run') };
      expect([place, stream.status, await stream.json()]).toMatchObject([place, 400, { error }]);
      expect(await read(runId, `cursor=${place}`)).toMatchObject({ status: 400, body: { error } });
    }
  });

  it('are told in one order to all who listen, from any place on, while many intents move at once', async () => {
    const runId = await openRun();
    const token = await tokenFor(runId);
    const path = `/v1/runs/${runId}/events`;
    const live = take(await follow(path, token));
    await Promise.all(
      Array.from({ length: 40 }, async () => {
        const { intentId } = await record({ runId });
        await settle(intentId);
      }),
    );
    await store.runs.close(runId, 'acme');
    const told = await live;
    expect(told).toHaveLength(40 * 4 + 1);
    expect(new Set(ids(told)).size, 'each once').toBe(told.length);
    for (const intentId of new Set(told.slice(0, -1).map(({ data }) => data.intentId as string))) {
      const own = told.filter(({ data }) => data.intentId === intentId);
      expect(own.map(({ data }) => data.version)).toEqual([1, 2, 3, 4]);
    }
    expect(ids(await take(await follow(path, token)))).toEqual(ids(told));
    for (const at of [0, 57, 158]) {
      expect(ids(await take(await follow(path, token, told[at]?.id ?? '')))).toEqual(ids(told).slice(at + 1));
    }
    expect((await follow(path, token, told.at(-2)?.id ?? '')).status).toBe(204);
    const first = (await gateway.call('GET', `${path}?limit=100`, token)).body;
    const second = (await gateway.call('GET', `${path}?limit=100&cursor=${first['nextCursor']}`, token)).body;
    expect([first, second].flatMap(({ events }) => events)).toEqual(told.slice(0, -1).map(({ data }) => data));
  });

  it('lose nothing that a slow transaction writes late', async () => {
    const runId = await openRun();
    const token = await tokenFor(runId);
    const { intentId: early } = await record({ runId });
    const slow = await database.session();
    onTestFinished(() => slow.end());
    await slow.query('BEGIN');
    // It has its place in the order from its first write on, long before anybody can see what it writes.
    await slow.query('SELECT pg_current_xact_id()');
    await settle(early);
    const copied = `INSERT INTO events SELECT intent_id, 5, 'corrected', '{"finding":"executed","breach":null}', 'late', recorded_at
      FROM events WHERE intent_id = $1 AND version = 4`;
    let cursor: unknown;
    const list = async (after: unknown) => {
      const { body } = await gateway.call('GET', `/v1/runs/${runId}/events${after ? `?cursor=${after}` : ''}`, token);
      cursor = body['nextCursor'];
      return (body['events'] as { version: number }[]).map(({ version }) => version);
    };
    // What comes after it waits for it.
    await expect.poll(() => list(null)).toEqual([1, 2]);
    const known = cursor;
    await slow.query(copied, [early]);
    expect(await list(known)).toEqual([]);
    await slow.query('COMMIT');
    await expect.poll(async () => (await list(known)).sort()).toEqual([3, 4, 5]);
  });

  it.each([
    'x',
    '-1',
    '1.2',
    '1e9',
    '0x1',
    `${'9'.repeat(40)}`,
    '1; DROP TABLE',
    '1.run_x.3',
    '1.01JD8Q4Y6V2N7XK3T5W9ZB1CEF.x',
  ])('cannot go on after %s, which is the id of no event, and say what one is', async (after) => {
    const runId = await openRun();
    const { intentId } = await record({ runId });
    const token = await tokenFor(runId);
    for (const path of [`/v1/runs/${runId}/events`, `/v1/intents/${intentId}/events`]) {
      const response = await follow(path, token, after);
      expect([response.status, await response.json()]).toMatchObject([
        400,
        {
          error: {
            code: 'invalid_message',
            message: expect.stringMatching(/^Last-Event-ID or cursor: (expected the|there is no event)/),
          },
        },
      ]);
    }
  });

  it('are for its own agent and the operators of its tenant only', async () => {
    const runId = await openRun();
    const other = await tokenFor(`run_${ulid()}`);
    for (const credential of [other, await tokenFor(runId, 'umbrella'), keys.otherOperator]) {
      expect((await follow(`/v1/runs/${runId}/events`, credential)).status).toBe(404);
    }
    expect((await follow('/v1/runs/x/events', other)).status).toBe(404);
    expect((await follow(`/v1/runs/${runId}/events`, keys.service)).status).toBe(403);
    expect((await follow(`/v1/runs/${runId}/events`, await tokenFor(runId), 'x.y.z')).status).toBe(400);
  });
});

it('a client that reads nothing holds neither the others nor the end of the process', async () => {
  const other = await startGateway(environment(database.url, nats.url));
  const runId = await openRun();
  const token = await tokenFor(runId);
  const text = 'x'.repeat(200_000);
  for (let i = 0; i < 20; i += 1) await record({ runId, args: { text } });
  const { port } = new URL(other.url);
  const socket = net.connect(Number(port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(
    `GET /v1/runs/${runId}/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  );
  socket.pause();
  const reading = await fetch(`${other.url}/v1/runs/${runId}/events`, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${token}` },
  });
  expect(await take(reading, 40)).toHaveLength(40);
  await other.close();
  socket.destroy();
});

describe('an ETag', () => {
  it('names the intent as it was read, and 304 says that it still is', async () => {
    const { intentId, runId } = await record();
    const token = await tokenFor(runId);
    const read = (tag: string, more: Record<string, string> = {}) =>
      gateway.call('GET', `/v1/intents/${intentId}`, token, { headers: { 'if-none-match': tag, ...more } });
    const tag = (await gateway.call('GET', `/v1/intents/${intentId}`, token)).headers.get('etag') ?? '';
    expect(tag).toBe('"2.agent"');
    for (const known of [tag, `W/${tag}`, `"1", ${tag}`, '*']) {
      const { status, headers, body } = await read(known);
      expect([status, headers.get('etag'), body]).toEqual([304, tag, {}]);
    }
    expect(await read('"1.agent"')).toMatchObject({ status: 202, body: { status: 'authorized' } });
    expect((await read(tag, { prefer: 'wait=1' })).status, 'nothing has changed in that second').toBe(304);
    const waiting = read(tag, { prefer: 'wait=20' });
    const attempt = await start(intentId);
    const moved = await waiting;
    expect(moved).toMatchObject({ status: 202, body: { status: 'dispatching' } });
    expect(moved.headers.get('etag')).toBe('"3.agent"');
    const outcome = read('"3.agent"', { prefer: 'wait=20' });
    await commit(intentId, attempt);
    expect(await outcome).toMatchObject({ status: 200, body: { status: 'committed' } });
  });

  it('that is not the present one is answered at once, since something has changed already', async () => {
    const { intentId, runId } = await record();
    const began = performance.now();
    const headers = { 'if-none-match': '"1.agent"', prefer: 'wait=20' };
    const answer = await gateway.call('GET', `/v1/intents/${intentId}`, await tokenFor(runId), { headers });
    expect(answer).toMatchObject({ status: 202, body: { status: 'authorized' } });
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it('is another one for operators, who read more of the same intent', async () => {
    const { intentId, runId } = await record();
    const read = (credential: string, tag = '') =>
      gateway.call('GET', `/v1/intents/${intentId}`, credential, { headers: { 'if-none-match': tag } });
    const token = await tokenFor(runId);
    const tag = (await read(token)).headers.get('etag') ?? '';
    const asOperator = await read(keys.viewer, tag);
    expect([asOperator.status, asOperator.headers.get('etag')]).toEqual([202, '"2.operator"']);
    expect((await read(keys.viewer, '"2.operator"')).status).toBe(304);
    expect((await read(token, '"2.operator"')).status).toBe(202);
  });
});
