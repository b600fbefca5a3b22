import { expect, test } from 'vitest';
import { HttpMessages, header, httpMessage } from './http-messages.js';

function read(chunks: readonly Buffer[]): [head: string, body: string][] {
  const seen: [string, string][] = [];
  const messages = new HttpMessages((head, body) => seen.push([head, body.toString()]));
  for (const chunk of chunks) messages.push(chunk);
  return seen;
}

test('messages are found however the stream is cut into chunks', () => {
  const stream = Buffer.concat([
    httpMessage('POST /effects HTTP/1.1', '{"a":1}', ['Idempotency-Key: k1']),
    httpMessage('POST /effects HTTP/1.1', '', ['Idempotency-Key: k2']),
    httpMessage('POST /effects HTTP/1.1', '{"ü":"\\r\\n\\r\\n"}'),
  ]);
  const whole = read([stream]);
  expect(whole.map(([, body]) => body)).toEqual(['{"a":1}', '', '{"ü":"\\r\\n\\r\\n"}']);
  for (let at = 1; at < stream.length; at += 1) {
    expect(read([stream.subarray(0, at), stream.subarray(at)])).toEqual(whole);
  }
});

test('a message that is not complete yet is not reported', () => {
  const message = httpMessage('HTTP/1.1 200 OK', '{"a":1}');
  expect(read([message.subarray(0, -1)])).toEqual([]);
});

test('headers are found without regard to case, and only as headers', () => {
  const head = 'POST /content-length:%203 HTTP/1.1\r\nContent-Length: 12\r\nidempotency-key:k\r\n';
  expect(header(head, 'content-length')).toBe('12');
  expect(header(head, 'idempotency-key')).toBe('k');
  expect(header(head, 'x-missing')).toBeUndefined();
});
