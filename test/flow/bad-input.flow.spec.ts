import { isUtf8 } from 'node:buffer';
import { type ErrorObject, streams } from '@intendant/contracts';
import { largestMessage } from '@intendant/tools';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Admissions, goodMessage } from './admissions.js';
import { audit } from './audit.js';
import { badMessages } from './bad-messages.js';
import { eventually } from './eventually.js';
import { Stack } from './stack.js';

let stack: Stack;
let admissions: Admissions;
beforeAll(async () => {
  stack = await Stack.start({ services: ['gateway', 'policy', 'outbox-relay', 'dispatcher', 'reconciler'] });
  admissions = new Admissions(stack);
});
afterAll(() => stack.stop());

const firstProblem = (error: ErrorObject | null) => (error?.details.problems as object[] | undefined)?.[0];

describe.concurrent('a message that cannot be admitted is refused with what would be right, and nothing is recorded:', () => {
  for (const { what, payload, code, problem } of badMessages) {
    test(what, async () => {
      const agent = await admissions.agent();
      const { error } = await agent.request(payload);
      expect(error).toMatchObject({ code, category: 'validation', nextAction: 'fix_arguments', retryable: false });
      expect(error?.message).toMatch(/Nothing was recorded/);
      expect(firstProblem(error)).toMatchObject({
        pointer: problem.pointer,
        expected: expect.stringMatching(problem.expected),
      });
      const overHttp = await agent.postHttp(payload);
      expect(overHttp).toMatchObject({
        status: payload.length > largestMessage ? 413 : code === 'invalid_arguments' ? 422 : 400,
        body: { status: overHttp.status },
      });
      // A body above the limit is not even read there.
      const tooLarge = { code, nextAction: 'fix_arguments', details: { limit: largestMessage } };
      expect(overHttp.body.error).toEqual(payload.length > largestMessage ? expect.objectContaining(tooLarge) : error);
      expect(await admissions.recorded(agent)).toBe(0);
      await admissions.stillWorks(agent);
    });
  }

  test('a tool that does not exist, with the nearest that does', async () => {
    const agent = await admissions.agent();
    const { error } = await agent.submit('effects.kyed', { ref: 'a' });
    expect(error).toMatchObject({
      code: 'unknown_tool',
      nextAction: 'choose_other_tool',
      details: { suggestion: 'effects.keyed' },
    });
    const stranger = await admissions.agent({ permissions: [] });
    expect((await stranger.submit('effects.kyed', { ref: 'a' })).error?.details).toEqual({});
    expect(await admissions.recorded(agent)).toBe(0);
  });

  test('a version of the tool that is not there', async () => {
    const agent = await admissions.agent();
    const { error } = await agent.request('{"tool":"effects.keyed","args":{"ref":"a"},"toolVersion":7}');
    expect(error).toMatchObject({ code: 'unknown_tool', details: { version: 1 } });
    expect(error?.message).toContain('has version 1, not 7');
    expect(await admissions.recorded(agent)).toBe(0);
  });

  test('arguments with several violations, which are told all at once', async () => {
    const agent = await admissions.agent();
    const { error } = await agent.submit('effects.keyed', { ref: 5, amount: '12', amonut: 12 });
    expect(error).toMatchObject({ code: 'invalid_arguments', nextAction: 'fix_arguments' });
    expect(error?.details.problems).toEqual(
      expect.arrayContaining([
        { pointer: '/ref', expected: 'a string', got: 'the number 5' },
        { pointer: '/amount', expected: 'a whole number', got: 'the string "12"' },
        expect.objectContaining({
          pointer: '/amonut',
          allowed: ['ref', 'amount'],
          expected: expect.stringContaining('"amount"'),
        }),
      ]),
    );
    expect(await admissions.recorded(agent)).toBe(0);
  });

  test('a time to wait that is none', async () => {
    const agent = await admissions.agent();
    for (const wait of ['soon', '10', '-1s', '1e9s', '10 s']) {
      const { error } = await agent.request(goodMessage('wait'), wait);
      expect(error).toMatchObject({ code: 'invalid_message' });
      expect(error?.message).toMatch(/10s or 500ms/);
    }
    expect(await admissions.recorded(agent)).toBe(0);
  });
});

describe.concurrent('a published message that cannot be admitted becomes one dead message of its verified sender:', () => {
  for (const { what, payload, code } of badMessages) {
    test(what, async () => {
      const agent = await admissions.agent();
      // White space makes it this test's own where that does not change what is wrong with it.
      const own = isUtf8(Buffer.from(payload)) && payload.length > 0 ? `${' '.repeat(3)}${payload}` : payload;
      const message = await admissions.kept(agent, own);
      expect(message.error).toMatchObject({ code });
      expect(message).toMatchObject({
        subject: 'intendant.intents.acme',
        session: { runId: agent.runId, tenant: 'acme', user: 'ada' },
      });
      expect(await admissions.recorded(agent)).toBe(0);
      await admissions.stillWorks(agent);
    });
  }
});

test('a call without the permission is recorded as denied, and replays as denied, by request and by publish', async () => {
  const agent = await admissions.agent({ permissions: ['orders:*'] });
  const first = await agent.request(goodMessage('denied'), '5s');
  expect(first).toMatchObject({
    status: 'denied',
    outcome: 'not_executed',
    replayed: false,
    error: { code: 'permission_denied' },
  });
  expect(await agent.request(goodMessage('denied'))).toEqual({ ...first, replayed: true });

  await agent.publish(goodMessage('denied'));
  await agent.publish(JSON.stringify({ tool: 'effects.keyed', args: { ref: 'denied' }, stepId: 's2' }));
  await eventually('the second step is recorded', async () => (await admissions.recorded(agent)) === 2);
  const states = await stack.store.intents.list({ runId: agent.runId, limit: 10 });
  expect(states.map((intent) => intent.status)).toEqual(['denied', 'denied']);
  expect(await admissions.dead(goodMessage('denied'))).toEqual([]);
  for (const { intentId } of states) expect(stack.requests(await stack.keyOf(intentId))).toEqual([]);
});

test('a published message is admitted like a requested one, and once', async () => {
  const agent = await admissions.agent();
  await agent.publish(goodMessage('published'));
  await agent.publish(goodMessage('published'));
  const result = await eventually(
    'it is recorded',
    async () => (await stack.store.intents.list({ runId: agent.runId, limit: 10 }))[0],
  );
  expect(await stack.settled(result.intentId)).toBe('committed');
  expect(await agent.request(goodMessage('published'), '20s')).toMatchObject({
    intentId: result.intentId,
    replayed: true,
  });
  expect(stack.effects(await stack.keyOf(result.intentId))).toHaveLength(1);
});

test('a submission that is admitted leaves nothing on the bus, its token least of all', async () => {
  const manager = await jetstreamManager(stack.bus);
  await eventually('the stream is empty', async () => {
    const { state } = await manager.streams.info(streams.intents);
    return state.messages === 0 && state.last_seq > 0;
  });
});

test('no table and no log holds a token or its signature', async () => {
  const { found, searched } = await admissions.leaks();
  expect(found).toEqual([]);
  // The refused messages are among what was searched.
  expect(searched).toBeGreaterThan(300 * 1024);
});

test('in the end log, read model and ledger agree', async () => {
  expect(await audit(stack)).toEqual([]);
});
