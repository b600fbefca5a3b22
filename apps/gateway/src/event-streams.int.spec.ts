import { connect } from 'node:net';
import { Store } from '@intendant/store';
import { createDatabase, type NatsServer, startNats, type TestDatabase } from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { environment, keys, startGateway, type TestGateway, tokenFor } from './gateway.spec-helper.js';

let nats: NatsServer;
let database: TestDatabase;
let gateway: TestGateway;
let store: Store;

beforeAll(async () => {
  [nats, database] = await Promise.all([startNats(), createDatabase()]);
  gateway = await startGateway(environment(database.url, nats.url));
  store = await Store.open({ url: database.url, name: 'spec' });
});
afterAll(async () => {
  await gateway?.close();
  await store?.close();
  await Promise.all([nats?.stop(), database?.drop()]);
});

describe('the places for event streams', () => {
  let path: string;
  let token: string;
  let leave: AbortController;

  beforeEach(async () => {
    const id = `run_${ulid()}`;
    const run = { id, tenant: 'acme', user: 'ada', profile: 'batch', permissions: [], phase: null } as const;
    await store.runs.open({ ...run, openedBy: 'spec' }, 3_600_000);
    path = `/v1/runs/${id}/events`;
    token = await tokenFor(id);
    leave = new AbortController();
    onTestFinished(() => leave.abort());
  });

  const follow = (credential: string, method = 'GET') =>
    fetch(gateway.url + path, {
      method,
      headers: { accept: 'text/event-stream', authorization: `Bearer ${credential}` },
      signal: leave.signal,
    });
  const statuses = async (count: number, credential: string) => {
    const all = await Promise.all(Array.from({ length: count }, () => follow(credential)));
    return all.map(({ status }) => status);
  };
  const isFree = (credential: string) =>
    expect
      .poll(async () => {
        const response = await follow(credential);
        await response.body?.cancel();
        return response.status;
      })
      .toBe(200);

  it('are not more than a run needs at once, also where all are asked for at once; who leaves makes room', async () => {
    const got = await statuses(200, token);
    expect(got.filter((status) => status === 200)).toHaveLength(32);
    expect(got.filter((status) => status === 429)).toHaveLength(168);
    const more = await follow(token);
    expect([more.status, await more.json()]).toMatchObject([429, { error: { code: 'rate_limited', retryable: true } }]);
    expect(Number(more.headers.get('retry-after'))).toBeGreaterThan(0);
    leave.abort();
    leave = new AbortController();
    await isFree(token);
  });

  it('are shared out to operators, too: one of them cannot take all', async () => {
    const got = await statuses(520, keys.viewer);
    expect(got.filter((status) => status === 200)).toHaveLength(500);
    const more = await follow(keys.viewer);
    expect([more.status, await more.json()]).toMatchObject([429, { error: { code: 'rate_limited' } }]);
    for (const credential of [token, keys.operator, keys.everywhere])
      expect(await statuses(1, credential)).toEqual([200]);
  });

  it('are not taken by who asks for the head of a stream only, who has it at once', async () => {
    for (let i = 0; i < 40; i += 1) {
      const { status, headers } = await follow(token, 'HEAD');
      expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    }
    expect(await statuses(32, token)).toEqual(Array(32).fill(200));
  });

  it('are given back by who hangs up before there is an answer', async () => {
    const { port } = new URL(gateway.url);
    const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    await Promise.all(
      Array.from({ length: 40 }, async () => {
        const socket = connect(Number(port), '127.0.0.1');
        await new Promise<void>((sent) => socket.write(head, () => sent()));
        socket.resetAndDestroy();
      }),
    );
    const all = async () => {
      const got = await statuses(32, token);
      leave.abort();
      leave = new AbortController();
      return got.every((status) => status === 200);
    };
    await expect.poll(all).toBe(true);
  });
});
