import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Store } from '@intendant/store';
import { createDatabase, type NatsServer, proposal, startNats, type TestDatabase } from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environment, keys, startGateway, type TestGateway, tokenFor } from './gateway.spec-helper.js';

/** Short, so that nobody has to wait for it; the gateway of a real installation waits longer. */
const patience = { requestMs: 500, readingMs: 500 };

let nats: NatsServer;
let database: TestDatabase;
let gateway: TestGateway;
let store: Store;
let token: string;
const runId = `run_${ulid()}`;
beforeAll(async () => {
  [nats, database] = await Promise.all([startNats(), createDatabase()]);
  gateway = await startGateway(environment(database.url, nats.url), patience);
  store = await Store.open({ url: database.url, name: 'spec' });
  const run = { tenant: 'acme', user: 'ada', profile: 'batch', permissions: [], phase: null } as const;
  await store.runs.open({ id: runId, ...run, openedBy: 'spec' }, 3_600_000);
  token = await tokenFor(runId, 'acme', 600_000);
});
afterAll(async () => {
  await gateway?.close();
  await store?.close();
  await Promise.all([nats?.stop(), database?.drop()]);
});

const request = (path: string, length: number) =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${token}`,
    'Accept: application/json, text/event-stream',
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    '',
    '',
  ].join('\r\n');
const open = () => connect(Number(new URL(gateway.url).port), '127.0.0.1').on('error', () => undefined);

/** Everything that comes back until the gateway hangs up, which it has to do by itself. */
async function answerOf(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await once(socket, 'close');
  return text;
}

async function byteByByte(socket: Socket, bytes: string): Promise<void> {
  for (const byte of bytes) {
    if (socket.destroyed) return;
    socket.write(byte);
    await delay(20);
  }
}

describe.each(['/v1/intents', '/mcp', '/v1/runs'])('a client that is too slow for a POST to %s', (path) => {
  const body = JSON.stringify({ tool: 'a.b', args: { text: 'x'.repeat(2_000) } });
  it.each([
    ['sends its body one byte at a time', request(path, body.length), body],
    ['stops in the middle of its body', `${request(path, body.length)}${body.slice(0, 1_000)}`, ''],
    ['sends its head one byte at a time', '', request(path, body.length)],
    ['stops in the middle of its head', request(path, body.length).slice(0, 40), ''],
    ['sends nothing', '', ''],
  ])('and %s is told so and cut off, and nobody else waits for it', async (_, atOnce, slowly) => {
    const socket = open();
    const answer = answerOf(socket);
    const since = performance.now();
    socket.write(atOnce);
    const sending = byteByByte(socket, slowly);
    expect((await gateway.call('GET', `/v1/runs/${runId}/events`, keys.operator)).status).toBe(200);
    expect(socket.destroyed).toBe(false);
    const text = await answer;
    expect(performance.now() - since).toBeGreaterThan(patience.requestMs - 50);
    expect(text).toMatch(/^HTTP\/1\.1 408 .*application\/problem\+json.*"code":"invalid_message".*Send it again\./s);
    await sending;
  });
});

it('a client that stops reading a stream is cut off, and its place is free', async () => {
  const streams = async () => /^intendant_event_streams_open (\d+)/m.exec(await metrics())?.[1];
  const metrics = async () => (await fetch(`${gateway.url}/metrics`)).text();
  // More than the buffers of a socket hold.
  const text = 'x'.repeat(250_000);
  for (let n = 0; n < 60; n += 1) {
    const p = proposal({ runId, args: { text } });
    await store.door.execute({
      intentId: p.intentId,
      command: { type: 'record', proposal: p, ruling: { allow: true } },
    });
  }
  const socket = open();
  socket.pause();
  socket.write(
    `GET /v1/runs/${runId}/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  );
  await expect.poll(streams, { timeout: 10_000 }).toBe('1');
  await expect.poll(streams, { timeout: 20_000 }).toBe('0');
  const told = await answerOf(socket.resume());
  expect(told).not.toContain('event: end');
}, 60_000);
