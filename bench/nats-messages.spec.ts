import { expect, test } from 'vitest';
import { type NatsMessage, NatsMessages } from './nats-messages.js';

const stream = Buffer.from(
  [
    'INFO {"server_id":"x"}',
    'MSG _INBOX.bench.7 1 5',
    'a\r\nbc',
    'PING',
    'MSG intendant.rpc.submit 1 _INBOX.r 2',
    'ok',
    'HMSG _INBOX.bench.8 1 12 14',
    'NATS/1.0\r\n\r\nno',
    'HMSG intendant.rpc.submit 1 _INBOX.r 12 12',
    'NATS/1.0\r\n\r\n',
    "-ERR 'Authorization Violation'",
    '',
  ].join('\r\n'),
);

function read(chunks: readonly Buffer[]) {
  const seen = { messages: [] as (Omit<NatsMessage, 'body'> & { body: string })[], pings: 0, errors: [] as string[] };
  const messages = new NatsMessages({
    onMessage: (message) => seen.messages.push({ ...message, body: message.body.toString() }),
    onPing: () => {
      seen.pings += 1;
    },
    onError: (line) => seen.errors.push(line),
  });
  for (const chunk of chunks) messages.push(chunk);
  return seen;
}

test('messages with and without headers and reply subjects are told apart', () => {
  const { messages, pings, errors } = read([stream]);
  expect(messages).toEqual([
    { subject: '_INBOX.bench.7', replyTo: '', body: 'a\r\nbc', hasHeaders: false },
    { subject: 'intendant.rpc.submit', replyTo: '_INBOX.r', body: 'ok', hasHeaders: false },
    { subject: '_INBOX.bench.8', replyTo: '', body: 'NATS/1.0\r\n\r\nno', hasHeaders: true },
    { subject: 'intendant.rpc.submit', replyTo: '_INBOX.r', body: 'NATS/1.0\r\n\r\n', hasHeaders: true },
  ]);
  expect(pings).toBe(1);
  expect(errors).toEqual(["-ERR 'Authorization Violation'"]);
});

test('the same is read however the stream is cut into chunks', () => {
  const whole = read([stream]);
  for (let at = 1; at < stream.length; at += 1) {
    expect(read([stream.subarray(0, at), stream.subarray(at)])).toEqual(whole);
  }
});
