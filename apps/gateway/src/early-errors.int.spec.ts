import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { createDatabase, type NatsServer, startNats, type TestDatabase } from '@intendant/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environment, startGateway, type TestGateway } from './gateway.spec-helper.js';

describe('what never reaches a route', () => {
  let nats: NatsServer;
  let database: TestDatabase;
  let gateway: TestGateway;

  /** Everything that comes back for these bytes until the server hangs up. */
  const send = async (bytes: string) => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.write(bytes);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    const [line = '', ...headers] = head.split('\r\n');
    return { status: Number(line.split(' ')[1]), headers, problem: JSON.parse(body) };
  };

  beforeAll(async () => {
    [nats, database] = await Promise.all([startNats(), createDatabase()]);
    gateway = await startGateway(environment(database.url, nats.url));
  });
  afterAll(async () => {
    await gateway?.close();
    await Promise.all([nats?.stop(), database?.drop()]);
  });

  const request = (path: string, ...headers: string[]) =>
    ['GET', path, 'HTTP/1.1']
      .join(' ')
      .concat('\r\n', [...headers, 'Host: x', 'Connection: close', '', ''].join('\r\n'));
  it.each([
    ['a path that is not UTF-8', request('/v1/intents/%E0%A4%A'), 400, /percent-encoding/],
    ['a path with half an escape', request('/v1/intents/%zz'), 400, /percent-encoding/],
    ['an id that is too long', request(`/v1/intents/${'x'.repeat(101)}`), 414, /too long/],
    ['bytes that are not HTTP', 'hello\r\n\r\n', 400, /not HTTP/],
    ['two lengths of one body', request('/', 'Content-Length: 1', 'Content-Length: 2'), 400, /not HTTP/],
    ['headers that are too large', request('/', `X: ${'x'.repeat(20_000)}`), 431, /headers are too large/],
  ])('is a problem: %s', async (_, bytes, status, message) => {
    const answer = await send(bytes);
    expect(answer.headers.map((header) => header.toLowerCase())).toContain('content-type: application/problem+json');
    expect(answer).toMatchObject({
      status,
      problem: {
        ...{ type: 'urn:intendant:error:invalid_message', title: 'Invalid message', status },
        ...{ detail: expect.stringMatching(message), error: { code: 'invalid_message', nextAction: 'fix_arguments' } },
      },
    });
  });
});
