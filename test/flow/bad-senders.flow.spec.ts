import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Admissions, goodMessage } from './admissions.js';
import { audit } from './audit.js';
import { Stack } from './stack.js';

let stack: Stack;
let admissions: Admissions;
beforeAll(async () => {
  stack = await Stack.start({ services: ['policy', 'outbox-relay', 'dispatcher', 'reconciler'] });
  admissions = new Admissions(stack);
});
afterAll(() => stack.stop());

describe('a sender that is not who it has to be', () => {
  const senders: readonly { who: string; token: () => Promise<string>; says: RegExp }[] = [
    { who: 'has no token', token: async () => '', says: /No run token/ },
    { who: 'has something that is no token', token: async () => 'not-a-token', says: /not valid/ },
    {
      who: 'has a token signed with another secret',
      token: () => admissions.token({}, 'another-secret-0123456789-0123456789'),
      says: /not valid/,
    },
    {
      who: 'has an expired token',
      token: () => admissions.token({ expiresAt: Date.now() - 2_000 }),
      says: /has expired/,
    },
    {
      who: 'changed the tenant in its token',
      token: async () => changed(await admissions.token({})),
      says: /not valid/,
    },
  ];
  const changed = (token: string): string => {
    const [head, body = '', signature] = token.split('.');
    const claims = Buffer.from(body, 'base64url').toString().replace('acme', 'evil');
    return [head, Buffer.from(claims).toString('base64url'), signature].join('.');
  };

  for (const { who, token, says } of senders) {
    test(`because it ${who} is refused, and what it published can be seen but not replayed`, async () => {
      const agent = await admissions.agent();
      const credential = await token();
      if (credential !== '') admissions.tokens.add(credential);
      const payload = goodMessage(`by somebody who ${who}`);
      const { error } = await agent.request(payload, undefined, credential);
      expect(error).toMatchObject({ code: 'unauthenticated', nextAction: 'stop', retryable: false });
      expect(error?.message).toMatch(says);

      const message = await admissions.kept(agent, payload, { token: credential });
      expect(message).toMatchObject({ session: null, error: { code: 'unauthenticated' } });
      const replay = await stack.ask('intendant.rpc.replay_message', { id: message.id });
      expect(replay.error).toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('read but not replayed'),
      });
      expect(
        await stack.database.query('SELECT 1 FROM events WHERE strpos(data::text, $1) > 0', [`who ${who}`]),
      ).toEqual([]);
      await admissions.stillWorks(agent);
    });
  }

  test('because its run is of another tenant is refused', async () => {
    const victim = await admissions.agent({ tenant: 'globex' });
    const token = await admissions.token({ tenant: 'acme', runId: victim.runId });
    const { error } = await victim.request(goodMessage('stolen run'), undefined, token);
    expect(error).toMatchObject({ code: 'unauthenticated' });
    expect((await admissions.kept(victim, goodMessage('stolen run'), { token })).error.code).toBe('unauthenticated');
    expect(await admissions.recorded(victim)).toBe(0);
  });

  test('because it publishes for another tenant is refused, under its own name', async () => {
    const agent = await admissions.agent();
    const message = await admissions.kept(agent, goodMessage('other subject'), { tenant: 'globex' });
    expect(message).toMatchObject({
      subject: 'intendant.intents.globex',
      session: { tenant: 'acme' },
      error: { code: 'unauthenticated' },
    });
    expect(message.error.message).toContain('intendant.intents.acme');
    expect(await admissions.recorded(agent)).toBe(0);
  });

  test('because its run is closed is refused, and by an operator too', async () => {
    const agent = await admissions.agent();
    await stack.store.runs.close(agent.runId, 'acme');
    const { error } = await agent.request(goodMessage('closed'));
    expect(error).toMatchObject({ code: 'run_closed', nextAction: 'stop' });
    const message = await admissions.kept(agent, goodMessage('closed'));
    expect(message).toMatchObject({ session: { runId: agent.runId }, error: { code: 'run_closed' } });
    const replay = await stack.ask('intendant.rpc.replay_message', { id: message.id });
    expect(replay.error).toMatchObject({ code: 'run_closed' });
    expect(await admissions.recorded(agent)).toBe(0);
  });
});

test('a dead message of a verified sender is admitted by an operator once its run is there, and takes effect once', async () => {
  const runId = `run_${ulid()}`;
  const token = await admissions.token({ runId });
  const sender = await admissions.agent();
  const payload = goodMessage('early bird');
  const { id } = await admissions.kept(sender, payload, { token });
  const replay = (credential?: string) =>
    stack.ask<{ intentId: string; replayed: boolean }>('intendant.rpc.replay_message', { id }, credential);

  expect((await replay(token)).error).toMatchObject({ code: 'unauthenticated' });
  expect((await replay()).error).toMatchObject({ code: 'unauthenticated' });
  await stack.store.runs.open(
    {
      id: runId,
      tenant: 'acme',
      user: 'ada',
      profile: 'interactive',
      permissions: ['*'],
      phase: null,
      openedBy: 'flow',
    },
    3_600_000,
  );
  const first = await replay();
  expect(first).toMatchObject({ replayed: false, error: null });
  expect(await replay()).toMatchObject({ intentId: first.intentId, replayed: true });
  expect(await stack.settled(first.intentId)).toBe('committed');
  expect(stack.effects(await stack.keyOf(first.intentId))).toHaveLength(1);
  expect(await stack.store.deadMessages.find(id)).toMatchObject({ intentId: first.intentId });
  expect(await admissions.dead(payload)).toEqual([]);
});

test('no table and no log holds a token or its signature', async () => {
  expect((await admissions.leaks()).found).toEqual([]);
});

test('in the end log, read model and ledger agree', async () => {
  expect(await audit(stack)).toEqual([]);
});
