import { MisbehavingServer, response, toolAt } from '@intendant/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { asking, attempt } from './asking.spec-helper.js';
import { Upstreams } from './index.js';
import { type Case, cases } from './transport-cases.spec-helper.js';

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
    const verdict = await adapter.call(attempt(tool, 'a-1'), { mayStart: () => true, onSend: () => sends++ });
    expect(verdict).toMatchObject({ kind: 'unknown', cause: expect.stringMatching(cause) });
    expect(sends).toBe(1);
    await adapter.close();
    expect(server.wireRequests('a-1')).toBe(behaviour.at === 'accept' ? 0 : 1);
  },
);

test.each(['reset', 'close'] as const)(
  'an upstream that accepts and then does %s is judged by whether bytes left',
  async (then) => {
    for (let n = 0; n < 20; n++) {
      server.script({ at: 'accept', then });
      const own = new Upstreams(() => null);
      let sends = 0;
      const verdict = await own.call(attempt(toolAt(server.url), `a-${n}`), {
        mayStart: () => true,
        onSend: () => sends++,
      });
      // The connection may fail before or after the client writes; both are right, as long as they agree.
      expect(verdict.kind).toBe(sends === 0 ? 'not_executed' : 'unknown');
      await own.close();
      expect(server.wireRequests(`a-${n}`)).toBe(0);
    }
  },
);

test('the same failures of a lookup are "cannot tell", and those of a poll are no end', async () => {
  const poll = { method: 'GET', path: '/ops', headers: {}, executed: 'true', failed: 'false', receipt: null } as const;
  const ask = async ({ name, behaviour }: Case, kind: 'lookup' | 'poll') => {
    const [own, other] = [new Upstreams(() => null), await MisbehavingServer.start()];
    other.script(behaviour);
    const tool = toolAt(other.url, { limits: { callMs: 300 }, upstream: { poll }, lookup: { present: 'true' } });
    const question = { ...asking(tool), accepted: null };
    const answer = await (kind === 'lookup' ? own.lookup(question) : own.poll(question));
    expect(answer, `${kind}: ${name}`).toMatchObject({ kind: kind === 'lookup' ? 'cannot_tell' : 'pending' });
    await other.stop();
    await own.close();
  };
  await Promise.all(cases.flatMap((each) => [ask(each, 'lookup'), ask(each, 'poll')]));
});

test('a refused connection is proof that nothing was sent', async () => {
  const tool = toolAt(server.url);
  await server.stop();
  let sends = 0;
  const verdict = await adapter.call(attempt(tool, 'a-1'), { mayStart: () => true, onSend: () => sends++ });
  expect(verdict).toMatchObject({ kind: 'not_executed', cause: 'connect_refused', transient: true, sent: false });
  expect(sends).toBe(0);
});

test('several refused addresses are proof that nothing was sent', async () => {
  const tool = toolAt(`http://localhost:${server.port}`);
  await server.stop();
  const verdict = await adapter.call(attempt(tool, 'a-1'), { mayStart: () => true });
  expect(verdict).toMatchObject({ kind: 'not_executed', cause: 'connect_refused', transient: true, sent: false });
});

test('a failed TLS handshake is proof that nothing was sent', async () => {
  server.script({ at: 'accept', send: response(200, '{}'), then: 'keep' });
  const tool = toolAt(server.url.replace('http:', 'https:'));
  const verdict = await adapter.call(attempt(tool, 'a-1'), { mayStart: () => true });
  expect(verdict).toMatchObject({ kind: 'not_executed', cause: 'tls_failed', transient: false });
});
