import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandLine } from '../../apps/cli/src/cli.spec-helper.js';
import { eventually } from './eventually.js';
import { HttpClient } from './http-client.js';
import { operatorKey, Stack } from './stack.js';

let stack: Stack;
let cli: ReturnType<typeof commandLine>;
let client: HttpClient;
beforeAll(async () => {
  const digest = createHash('sha256').update(operatorKey).digest('hex');
  stack = await Stack.start({ env: { INTENDANT_OPERATOR_KEYS: `olga@acme:viewer+operator=${digest}` } });
  client = new HttpClient(() => stack.url);
  cli = commandLine({ INTENDANT_URL: stack.url, INTENDANT_OPERATOR_KEY: operatorKey });
});
afterAll(async () => {
  cli?.remove();
  await stack?.stop();
});

const http: HttpClient['http'] = (...question) => client.http(...question);
const replay = (id: string) =>
  http('POST', '/v1/dead-letters/replay', operatorKey, { body: { ids: [id], reason: 'looked at it' } });

type Message = { id: string; sender: { runId: string } | null; error: { code: string } };
/** The listed message of that code, once there is one. */
const listed = (code: string) =>
  eventually(`a dead message that is ${code}`, async () => {
    const { body } = await http('GET', '/v1/dead-letters', operatorKey);
    return (body.messages as Message[]).find((message) => message.error.code === code) ?? null;
  });

describe('for an operator of the tenant it was addressed to, a dead message', () => {
  test('of a known sender can be read, and its replay says what is wrong with it', async () => {
    const agent = await stack.agent();
    const unreadable = '{"tool": ';
    await agent.publish(unreadable);
    const { id, sender } = await listed('invalid_message');
    expect(sender).toMatchObject({ runId: agent.runId });
    expect((await http('GET', `/v1/dead-letters/${id}`, operatorKey)).body.payload).toMatchObject({
      text: unreadable,
      truncated: false,
    });
    expect(await replay(id)).toMatchObject({ status: 400, body: { error: { code: 'invalid_message' } } });
  });

  test('of nobody known can be read but not replayed, and is open again when it comes again after its dismissal', async () => {
    const agent = await stack.agent();
    const publish = () => agent.publish(JSON.stringify({ tool: 'effects.keyed', args: {} }), 'acme', 'not-a-token');
    await publish();
    const { id, sender } = await listed('unauthenticated');
    expect(sender).toBeNull();
    const why = 'so it can be read but not replayed';
    expect(await replay(id)).toMatchObject({ status: 409, body: { detail: expect.stringContaining(why) } });
    expect(await cli.run(['dead-letters', 'replay', id, '--reason', 'r'])).toMatchObject({
      status: 1,
      err: [expect.stringContaining(why)],
    });

    expect(await cli.run(['dead-letters', 'dismiss', id, '--reason', 'a stray script'])).toMatchObject({ status: 0 });
    const open = async () => (await cli.run(['dead-letters', 'list'])).out.join('\n');
    expect(await open()).not.toContain(id);
    await publish();
    expect(await listed('unauthenticated')).toMatchObject({ id });
  });
});

test('what never reaches a route is a problem here too', async () => {
  const answer = await http('GET', '/v1/intents/%E0%A4%A', operatorKey);
  expect(answer).toMatchObject({ status: 400, body: { status: 400, error: { code: 'invalid_message' } } });
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
});
