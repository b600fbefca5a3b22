import { type Behaviour, MisbehavingServer, response, toolAt } from '@intendant/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Upstreams } from './index.js';

interface Case {
  readonly name: string;
  readonly behaviour: Behaviour;
  readonly cause: string | RegExp;
  /** For a server that falls silent. */
  readonly callMs?: number;
}

const half = '{"ok":';
const cut = `HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n${half}`;
const statusLine = 'HTTP/1.1 200 OK\r\n';

/** Every way to fall over after the header bytes were handed to the socket. */
const cases: readonly Case[] = [
  { name: 'is reset after the headers', behaviour: { at: 'headers', then: 'reset' }, cause: 'reset_after_send' },
  { name: 'is closed after the headers', behaviour: { at: 'headers', then: 'close' }, cause: 'reset_after_send' },
  { name: 'is reset after the full request', behaviour: { at: 'request', then: 'reset' }, cause: 'reset_after_send' },
  { name: 'is closed after the full request', behaviour: { at: 'request', then: 'close' }, cause: 'reset_after_send' },
  {
    name: 'is reset after the status line',
    behaviour: { at: 'request', send: statusLine, then: 'reset' },
    cause: 'reset_after_send',
  },
  {
    name: 'is closed after the status line',
    behaviour: { at: 'request', send: statusLine, then: 'close' },
    cause: 'reset_after_send',
  },
  {
    name: 'is reset in the middle of a success',
    behaviour: { at: 'request', send: cut, then: 'reset' },
    cause: /^(answer_cut_short|reset_after_send)$/,
  },
  {
    name: 'is closed before Content-Length is reached',
    behaviour: { at: 'request', send: cut, then: 'close' },
    cause: 'answer_cut_short',
  },
  {
    name: 'is closed in the middle of a chunk',
    behaviour: {
      at: 'request',
      send: `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nb\r\n${half}`,
      then: 'close',
    },
    cause: 'answer_cut_short',
  },
  {
    name: 'delimits its answer by closing, too early',
    behaviour: { at: 'request', send: `HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${half}`, then: 'close' },
    cause: 'no_receipt',
  },
  {
    name: 'answers garbage',
    behaviour: { at: 'request', send: 'no such protocol\r\n\r\n', then: 'keep' },
    cause: 'bad_response',
  },
  {
    name: 'answers endless headers',
    behaviour: { at: 'request', send: `HTTP/1.1 200 OK\r\n${'x-more: and more\r\n'.repeat(2000)}\r\n`, then: 'keep' },
    cause: 'bad_response',
  },
  {
    name: 'answers with an unasked upgrade',
    behaviour: { at: 'request', send: 'HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n', then: 'keep' },
    cause: 'reset_after_send',
  },
  {
    name: 'is silent once it is accepted',
    behaviour: { at: 'accept', then: 'hang' },
    cause: 'call_timeout',
    callMs: 150,
  },
  {
    name: 'is silent after the headers',
    behaviour: { at: 'headers', then: 'hang' },
    cause: 'call_timeout',
    callMs: 150,
  },
  {
    name: 'is silent after the full request',
    behaviour: { at: 'request', then: 'hang' },
    cause: 'call_timeout',
    callMs: 150,
  },
  {
    name: 'is silent after the status line',
    behaviour: { at: 'request', send: statusLine, then: 'hang' },
    cause: 'call_timeout',
    callMs: 150,
  },
  {
    name: 'is silent in the middle of a success',
    behaviour: { at: 'request', send: cut, then: 'hang' },
    cause: 'call_timeout',
    callMs: 150,
  },
  {
    name: 'announces an answer and is silent',
    behaviour: { at: 'request', send: 'HTTP/1.1 102 X\r\n\r\n', then: 'hang' },
    cause: 'call_timeout',
    callMs: 150,
  },
  {
    name: 'is reset in the middle of a refusal',
    behaviour: { at: 'request', send: 'HTTP/1.1 400 X\r\ncontent-length: 50\r\n\r\n{', then: 'close' },
    cause: 'answer_cut_short',
  },
];

let server: MisbehavingServer;
let adapter: Upstreams;

beforeEach(async () => {
  server = await MisbehavingServer.start();
  adapter = new Upstreams(() => null);
});
afterEach(async () => {
  await server.stop();
  await adapter.close();
});

test.each(cases)(
  'an upstream that $name leaves the outcome unknown, and the request is sent once',
  async ({ behaviour, cause, callMs }) => {
    server.script(behaviour);
    const tool = toolAt(server.url, { limits: { callMs: callMs ?? 10_000 } });
    let sends = 0;
    const verdict = await adapter.call(
      { tool, args: { n: 1 }, key: 'k', intentId: 'i', tenant: 't', runId: 'run_1', attemptId: 'a-1', sandbox: false },
      { mayStart: () => true, onSend: () => sends++ },
    );
    expect(verdict).toMatchObject({ kind: 'unknown', cause: expect.stringMatching(cause) });
    expect(sends).toBe(1);
    await adapter.close();
    expect(server.wireRequests('a-1')).toBeLessThanOrEqual(1);
  },
);

test.each(['reset', 'close'] as const)(
  'an upstream that accepts and then does %s is judged by whether bytes left',
  async (then) => {
    for (let n = 0; n < 20; n++) {
      server.script({ at: 'accept', then });
      const own = new Upstreams(() => null);
      let sends = 0;
      const verdict = await own.call(
        {
          tool: toolAt(server.url),
          args: {},
          key: 'k',
          intentId: 'i',
          tenant: 't',
          runId: 'run_1',
          attemptId: `a-${n}`,
          sandbox: false,
        },
        { mayStart: () => true, onSend: () => sends++ },
      );
      // The connection may fail before or after the client writes; both are right, as long as they agree.
      expect(verdict.kind).toBe(sends === 0 ? 'not_executed' : 'unknown');
      await own.close();
      expect(server.wireRequests(`a-${n}`)).toBe(0);
    }
  },
);

test('the same failures of a lookup are "cannot tell"', async () => {
  for (const { behaviour } of cases) {
    const own = new Upstreams(() => null);
    server.script(behaviour);
    const tool = toolAt(server.url, { limits: { callMs: 150 } });
    expect(
      await own.lookup({ tool, args: {}, key: 'k', intentId: 'i', tenant: 't', runId: 'run_1', sandbox: false }),
    ).toMatchObject({
      kind: 'cannot_tell',
    });
    await own.close();
  }
});

test('a refused connection is proof that nothing was sent', async () => {
  const tool = toolAt(server.url);
  await server.stop();
  let sends = 0;
  const verdict = await adapter.call(
    { tool, args: {}, key: 'k', intentId: 'i', tenant: 't', runId: 'run_1', attemptId: 'a-1', sandbox: false },
    { mayStart: () => true, onSend: () => sends++ },
  );
  expect(verdict).toMatchObject({ kind: 'not_executed', cause: 'connect_refused', transient: true });
  expect(sends).toBe(0);
});

test('several refused addresses are proof that nothing was sent', async () => {
  const tool = toolAt(`http://localhost:${server.port}`);
  await server.stop();
  const verdict = await adapter.call(
    { tool, args: {}, key: 'k', intentId: 'i', tenant: 't', runId: 'run_1', attemptId: 'a-1', sandbox: false },
    { mayStart: () => true },
  );
  expect(verdict).toMatchObject({ kind: 'not_executed', cause: 'connect_refused', transient: true });
});

test('a failed TLS handshake is proof that nothing was sent', async () => {
  server.script({ at: 'accept', send: response(200, '{}'), then: 'keep' });
  const tool = toolAt(server.url.replace('http:', 'https:'));
  const verdict = await adapter.call(
    { tool, args: {}, key: 'k', intentId: 'i', tenant: 't', runId: 'run_1', attemptId: 'a-1', sandbox: false },
    { mayStart: () => true },
  );
  expect(verdict).toMatchObject({ kind: 'not_executed', cause: 'tls_failed', transient: false });
});
