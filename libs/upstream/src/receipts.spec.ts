import { MisbehavingServer, response, toolAt } from '@intendant/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Upstreams, type ValidateOutput } from './index.js';

const needsId: ValidateOutput = (_, data) =>
  typeof data === 'object' && data !== null && 'id' in data ? null : 'id is missing';

let server: MisbehavingServer;
let adapter: Upstreams;
let attempts = 0;

beforeAll(async () => {
  server = await MisbehavingServer.start();
  adapter = new Upstreams(needsId, { maxResponseBytes: 10_000 });
});
afterAll(async () => {
  await adapter.close();
  await server.stop();
});

async function answered(
  answer: string | Buffer,
  effect: 'read' | 'destructive' = 'destructive',
  then: 'keep' | 'close' = 'keep',
) {
  const attemptId = `a-${++attempts}`;
  server.script({ at: 'request', send: answer, then });
  const verdict = await adapter.call(
    {
      tool: toolAt(server.url, { tool: { effect } }),
      args: {},
      key: 'k',
      intentId: 'i',
      tenant: 't',
      runId: 'run_1',
      attemptId,
      sandbox: false,
    },
    { mayStart: () => true },
  );
  expect(server.wireRequests(attemptId)).toBe(1);
  return verdict;
}

test('a receipt that fits the schema is proof', async () => {
  expect(await answered(response(201, '{"id":"r1"}'))).toEqual({ kind: 'executed', data: { id: 'r1' } });
});

const broken = [
  { name: 'that breaks the schema', answer: response(200, '{"error":"no"}') },
  { name: 'that is empty', answer: response(200) },
  { name: 'of status 204', answer: 'HTTP/1.1 204 X\r\n\r\n' },
  { name: 'that is not JSON', answer: response(200, '<html>ok</html>') },
  { name: 'that is cut short inside a string', answer: response(200, '{"id":"r') },
  {
    name: 'that is not UTF-8',
    answer: Buffer.from('HTTP/1.1 200 X\r\ncontent-length: 10\r\n\r\n{"id":"\xff"}', 'latin1'),
  },
];

test.each(broken)('a success $name leaves an effect unknown and makes a read fail', async ({ answer }) => {
  expect(await answered(answer)).toMatchObject({ kind: 'unknown', cause: 'no_receipt' });
  expect(await answered(answer, 'read')).toMatchObject({
    kind: 'not_executed',
    cause: 'output_invalid',
    transient: false,
  });
});

test('an answer cut short on a connection that closes is caught by its receipt', async () => {
  const answer = 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{"id":';
  expect(await answered(answer, 'destructive', 'close')).toMatchObject({ kind: 'unknown', cause: 'no_receipt' });
});

test('a gigantic answer is not read to its end', async () => {
  const answer = response(200, `{"id":"${'x'.repeat(2_000_000)}"}`);
  expect(await answered(answer)).toMatchObject({ kind: 'unknown', cause: 'response_too_large' });
  expect(await answered(answer, 'read')).toMatchObject({ kind: 'not_executed', cause: 'output_invalid' });
});

test('a gigantic refusal is a refusal', async () => {
  expect(await answered(response(400, 'no '.repeat(500_000)))).toMatchObject({
    kind: 'not_executed',
    cause: 'http_400',
  });
});

test('a check that fails with an exception proves nothing', async () => {
  const own = new Upstreams(() => {
    throw new Error('broken schema');
  });
  const verdict = await own.call(
    {
      tool: toolAt(server.url),
      args: {},
      key: 'k',
      intentId: 'i',
      tenant: 't',
      runId: 'run_1',
      attemptId: 'a-x',
      sandbox: false,
    },
    { mayStart: () => true },
  );
  expect(verdict).toMatchObject({
    kind: 'unknown',
    cause: 'no_receipt',
    detail: expect.stringContaining('broken schema'),
  });
  await own.close();
});
