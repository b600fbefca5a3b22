import type { ErrorObject, Grant, IntentResult, Pause } from '@intendant/contracts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { commandLine } from '../../apps/cli/src/cli.spec-helper.js';
import type { Agent } from './clients.js';
import { eventually } from './eventually.js';
import { keyOf, type Person, Stack } from './stack.js';

const tool = 'effects.approved';
type Given = Grant & { readonly error?: ErrorObject };

const give = (stack: Stack, terms: object = {}, person: Person = 'gina') =>
  stack.person(person).post<Given>('/v1/grants', { tool, maxUses: 7, ttl: '1h', reason: 'spec', ...terms });
const grantOf = async (stack: Stack, id: string) => (await stack.person('vera').get<Grant>(`/v1/grants/${id}`)).body;
const revoke = (stack: Stack, id: string) => stack.person('erin').delete<Grant>(`/v1/grants/${id}`);

let steps = 0;
function submit(agent: Agent, mark: string) {
  steps += 1;
  return agent.submit(tool, { ref: `${mark} ${steps}` }, { stepId: `s${steps}` });
}
const many = <T>(count: number, make: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));

interface Settled {
  readonly done: readonly string[];
  readonly waiting: readonly string[];
}

/** Which of these have happened and which wait for a person, once each does one or the other. */
async function settled(stack: Stack, answers: readonly IntentResult[]): Promise<Settled> {
  const ids = answers.map(({ intentId }) => intentId);
  return eventually('each has happened or waits', async () => {
    const rows = await stack.database.query<{ id: string; state: string }>(
      'SELECT id, state FROM intents WHERE id = ANY ($1)',
      [ids],
    );
    const inState = (wanted: string) => rows.flatMap(({ id, state }) => (state === wanted ? [id] : []));
    const [done, waiting] = [inState('committed'), inState('awaiting_approval')];
    return done.length + waiting.length === ids.length ? { done, waiting } : null;
  });
}

/** What the upstream was sent of these, by its own ledger. */
async function effectsOf(stack: Stack, answers: readonly IntentResult[]): Promise<number> {
  const keys = await Promise.all(answers.map(({ intentId }) => stack.keyOf(intentId)));
  return keys.reduce((sum, key) => sum + stack.effects(key).length, 0);
}

/** Admitted by its grant, and not sent before `meanwhile` is done. */
async function heldBack(stack: Stack, agent: Agent, meanwhile: () => Promise<unknown>): Promise<string> {
  const operator = stack.operator();
  const { body } = await operator.put<{ pause: Pause }>('/v1/pauses', { tool, reason: 'spec' });
  steps += 1;
  await agent.publish(JSON.stringify({ tool, args: { ref: `held ${steps}` }, stepId: `s${steps}` }));
  const intentId = await eventually('it is admitted', async () => {
    const [intent] = await stack.store.intents.list({ runId: agent.runId, state: 'authorized', limit: 1 });
    return intent?.intentId;
  });
  await meanwhile();
  await operator.delete(`/v1/pauses/${body.pause.id}`);
  return intentId;
}

const stateOf = async (stack: Stack, intentId: string) => (await stack.store.intents.load(intentId))?.state;

describe('over three policies and two dispatchers, a grant', () => {
  let stack: Stack;
  beforeAll(async () => {
    const services = [
      'gateway',
      'policy',
      'policy',
      'policy',
      'outbox-relay',
      'dispatcher',
      'dispatcher',
      'reconciler',
    ];
    stack = await Stack.start({ services });
  });
  afterAll(() => stack?.stop());

  test('of seven uses lets seven of forty happen, by the ledger of the upstream, and the others wait', async () => {
    const { status, body: grant } = await give(stack, { when: 'args.ref.startsWith("burst")' });
    expect(status).toBe(201);
    const agents = await many(4, () => stack.agent());
    const answers = await many(40, (i) => submit(agents[i % 4] as Agent, 'burst'));
    const { done, waiting } = await settled(stack, answers);
    expect([done.length, waiting.length]).toEqual([7, 33]);
    expect(await effectsOf(stack, answers)).toBe(7);
    expect(await grantOf(stack, grant.id)).toMatchObject({
      used: 7,
      left: { uses: 0 },
      inForce: true,
      givenBy: 'gina',
    });

    const [intentId = ''] = done;
    const { runId } = answers.find((each) => each.intentId === intentId) as IntentResult;
    const shown = await stack.person('vera').get<{ grant: string | null }>(`/v1/intents/${intentId}`);
    expect(shown.body.grant).toBe(grant.id);
    const other = await stack.person('vera').get<{ grant: string | null }>(`/v1/intents/${waiting[0]}`);
    expect(other.body.grant).toBeNull();
    const events = await stack.person('vera').get<object>(`/v1/intents/${intentId}/events`);
    expect(JSON.stringify(events.body)).toContain(`"rule":"grant","inputs":{"grant":"${grant.id}","givenBy":"gina"`);
    const agent = agents.find((each) => each.runId === runId) as Agent;
    for (const path of [`/v1/intents/${intentId}`, `/v1/intents/${intentId}/events`]) {
      const seen = await agent.getHttp(path);
      expect([seen.status, JSON.stringify(seen.body).includes(grant.id)]).toEqual([200, false]);
    }
  });

  test('that is revoked between admission and dispatch lets nothing be sent, and a person is asked instead', async () => {
    const agent = await stack.agent();
    const { body: grant } = await give(stack);
    const intentId = await heldBack(stack, agent, async () => {
      expect((await revoke(stack, grant.id)).body).toMatchObject({ revokedBy: 'erin', inForce: false });
    });
    await eventually('a person is asked', async () => (await stateOf(stack, intentId)) === 'awaiting_approval');
    expect(stack.requests(await stack.keyOf(intentId))).toEqual([]);
    const look = () =>
      stack.person('erin').get<{ digest: string; why: { rule: string }[] }>(`/v1/approvals/${intentId}`);
    await eventually('the rules of now are asked, too', async () => (await look()).body.why[0]?.rule === 'approval');
    const { body: card } = await look();
    expect(card.why).toEqual([
      { rule: 'approval', message: `${tool} always needs the approval of a person.` },
      { rule: 'grant', message: `The grant ${grant.id} by gina is over.` },
    ]);
    expect((await stack.person('erin').post(`/v1/approvals/${intentId}/approve`, { digest: card.digest })).status).toBe(
      200,
    );
    expect(await stack.settled(intentId)).toBe('committed');
    expect(stack.effects(await stack.keyOf(intentId))).toHaveLength(1);
    expect(await submit(agent, 'after')).toMatchObject({ status: 'awaiting_approval' });
  });

  test('that runs out between admission and dispatch does so, too', async () => {
    const agent = await stack.agent();
    const { body: grant } = await give(stack, { ttl: '2s' });
    const intentId = await heldBack(stack, agent, () =>
      eventually('it is over', async () => !(await grantOf(stack, grant.id)).inForce),
    );
    await eventually('a person is asked', async () => (await stateOf(stack, intentId)) === 'awaiting_approval');
    expect(stack.requests(await stack.keyOf(intentId))).toEqual([]);
    expect(
      (await stack.person('vera').get<{ items: Grant[] }>('/v1/grants')).body.items.map(({ id }) => id),
    ).not.toContain(grant.id);
    const all = await stack.person('vera').get<{ items: Grant[] }>('/v1/grants?all=true');
    expect(all.body.items.map(({ id }) => id)).toContain(grant.id);
  });

  test('that is revoked in a burst is the end of it: what is sent was begun before', async () => {
    const agent = await stack.agent();
    const { body: grant } = await give(stack, { maxUses: 1_000 });
    const burst = many(60, () => submit(agent, 'revoked'));
    await eventually('some have happened', async () => (await grantOf(stack, grant.id)).used > 3);
    await revoke(stack, grant.id);
    const answers = await burst;
    const { done } = await settled(stack, answers);
    expect(await effectsOf(stack, answers)).toBe(done.length);
    const late = await stack.database.query(
      `SELECT e.intent_id FROM events AS e JOIN intents AS i ON i.id = e.intent_id JOIN grants AS g ON g.id = i.grant_id
       WHERE g.id = $1 AND e.type = 'attempt_started' AND e.recorded_at > g.revoked_at + interval '1 second'`,
      [grant.id],
    );
    expect(late).toEqual([]);
    expect(await submit(agent, 'revoked')).toMatchObject({ status: 'awaiting_approval' });
  });

  test('is what it was after policies and dispatchers have died', async () => {
    const agent = await stack.agent();
    const { body: grant } = await give(stack, { maxUses: 3 });
    const before = await many(2, () => submit(agent, 'restart'));
    expect((await settled(stack, before)).done).toHaveLength(2);
    for (const service of stack.services.filter(({ name }) => name === 'policy' || name === 'dispatcher')) {
      service.kill('SIGKILL');
    }
    for (const name of ['policy', 'policy', 'dispatcher']) await stack.launch(name);
    const after = await many(10, () => submit(agent, 'restart'));
    const { done, waiting } = await settled(stack, after);
    expect([done.length, waiting.length]).toEqual([1, 9]);
    expect(await effectsOf(stack, [...before, ...after])).toBe(3);
    expect(await grantOf(stack, grant.id)).toMatchObject({ used: 3, left: { uses: 0 } });
  });

  test('is given by approvers alone, and refused in a sentence', async () => {
    const agent = await stack.agent();
    const viewer = await give(stack, {}, 'vera');
    expect([viewer.status, viewer.body.error?.message]).toEqual([
      403,
      expect.stringContaining('needs the role approver'),
    ]);
    const tried = await fetch(`${stack.url}/v1/grants`, {
      method: 'POST',
      headers: { authorization: `Bearer ${agent.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ tool, maxUses: 1, ttl: '1h', reason: 'mine' }),
    });
    expect(tried.status).toBe(403);
    const mine = await stack.ask<Grant>(
      'intendant.rpc.give_grant',
      { tool, maxUses: 1, ttl: '1h', reason: 'mine' },
      agent.token,
    );
    expect(mine.error?.code).toBe('unauthenticated');
    const unknown = await give(stack, { tool: 'effects.aproved' });
    expect([unknown.status, unknown.body.error?.message]).toEqual([
      404,
      'There is no tool effects.aproved. Did you mean effects.approved? Nothing was granted.',
    ]);
    const endless = await give(stack, { ttl: undefined });
    expect([endless.status, endless.body.error?.message]).toEqual([
      400,
      expect.stringContaining('/ttl: expected a duration'),
    ]);
    const wrong = await give(stack, { when: 'args.ref ==' });
    expect([wrong.status, wrong.body.error?.message]).toEqual([422, expect.stringContaining('/when: expected CEL')]);
  });

  test('is given, listed, shown and revoked on the command line', async () => {
    const cli = commandLine({ INTENDANT_URL: stack.url, INTENDANT_OPERATOR_KEY: keyOf('gina') });
    onTestFinished(() => cli.remove());
    const terms = ['--uses', '5', '--for', '8h', '--when', 'args.amount <= 50', '--reason', 'recall week'];
    const given = await cli.run(['grants', 'give', tool, ...terms]);
    expect([given.status, given.err]).toEqual([0, []]);
    const id = /^grant +(\S+) +in force$/.exec(given.out[0] ?? '')?.[1] ?? '';
    expect(given.out).toEqual([
      `grant   ${id}  in force`,
      `for     ${tool} version 1 of tenant acme`,
      'when    args.amount <= 50',
      'used    0 of 5',
      expect.stringMatching(/^given {3}by gina at .*, until /),
      'reason  recall week',
      `revoke  intendant grants revoke ${id}`,
    ]);
    const listed = await cli.run(['grants', 'list', '--tool', tool]);
    expect(listed.out.join('\n')).toMatch(
      new RegExp(`GRANT.*\\n[\\s\\S]*${id} +${tool} +0 of 5 .* in force +gina +args.amount <= 50`),
    );
    const shown = await cli.run(['grants', 'show', id, '--json']);
    expect(JSON.parse(shown.out.join(''))).toMatchObject({ id, used: 0, left: { uses: 5, total: null } });
    const revoked = await cli.run(['grants', 'revoke', id]);
    expect(revoked.out.join('')).toMatch(new RegExp(`^${id} {2}revoked by gina at .*; 0 of 5 were used$`));
    const none = await cli.run(['grants', 'revoke', 'nothing']);
    expect([none.status, none.err.join('')]).toEqual([1, expect.stringContaining('There is no such grant')]);
    const wrong = await cli.run(['grants', 'give', tool, '--uses', '1', '--for', 'P31D', '--reason', 'x']);
    expect([wrong.status, wrong.err.join('\n')]).toEqual([1, expect.stringContaining('/ttl: expected a duration')]);
  });
});

test('one process that records and starts at once keeps to a grant as well', async () => {
  const stack = await Stack.start();
  onTestFinished(() => stack.stop());
  const agent = await stack.agent();
  const { body: grant } = await give(stack);
  const answers = await many(40, () => submit(agent, 'standalone'));
  const { done, waiting } = await settled(stack, answers);
  expect([done.length, waiting.length]).toEqual([7, 33]);
  expect(await effectsOf(stack, answers)).toBe(7);
  const { body: second } = await give(stack);
  const intentId = await heldBack(stack, agent, () => revoke(stack, second.id));
  await eventually('a person is asked', async () => (await stateOf(stack, intentId)) === 'awaiting_approval');
  expect(stack.requests(await stack.keyOf(intentId))).toEqual([]);
  expect(await grantOf(stack, grant.id)).toMatchObject({ used: 7 });
}, 60_000);
