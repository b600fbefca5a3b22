import { createHash } from 'node:crypto';
import type { ErrorObject, Pause } from '@intendant/contracts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { commandLine } from '../../apps/cli/src/cli.spec-helper.js';
import { Operator } from './clients.js';
import { eventually } from './eventually.js';
import { operatorKey, Stack, serviceKey } from './stack.js';

interface Begun {
  readonly pause: Pause;
  readonly underWay: number;
}
type Refused = { readonly error: ErrorObject };

const services = ['gateway', 'policy', 'policy', 'policy', 'outbox-relay', 'dispatcher', 'dispatcher', 'reconciler'];

const tomsKey = 'key-of-tom-who-works-for-acme';
const verasKey = 'key-of-vera-who-only-looks';

let stack: Stack;
beforeAll(async () => {
  const keyOf = (who: string, key: string) => `${who}=${createHash('sha256').update(key).digest('hex')}`;
  const operators = [
    keyOf('olga@*:viewer+operator', operatorKey),
    keyOf('tom@acme:viewer+operator', tomsKey),
    keyOf('vera@*:viewer', verasKey),
  ];
  stack = await Stack.start({ services, env: { INTENDANT_OPERATOR_KEYS: operators.join(',') } });
});
afterAll(() => stack?.stop());
afterEach(async () => {
  for (const { id } of await inForce()) await resume(id);
});

async function inForce(): Promise<Pause[]> {
  return (await stack.operator().get<{ items: Pause[] }>('/v1/pauses')).body.items;
}

async function pause(scope: object): Promise<Begun> {
  const { status, body } = await stack.operator().put<Begun>('/v1/pauses', { reason: 'maintenance', ...scope });
  expect(status).toBe(200);
  return body;
}

async function resume(id: string): Promise<void> {
  expect((await stack.operator().delete(`/v1/pauses/${id}`)).status).toBe(200);
}

/** Whatever is recorded of this agent, and what it came to. */
async function committed(intentIds: readonly string[]): Promise<void> {
  for (const id of intentIds) expect(await stack.settled(id)).toBe('committed');
}

describe('while a tool is paused', () => {
  test('no replica records anything new of it once the operator is answered, and agents are told why', async () => {
    const { pause: begun, underWay } = await pause({ tool: 'effects.keyed', for: '1h' });
    expect(underWay).toBe(0);
    const agent = await stack.agent();
    const before = stack.requests().length;
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => agent.submit('effects.keyed', { ref: `paused ${i}` }, { stepId: `p${i}` })),
    );
    for (const { error } of answers) {
      expect(error).toMatchObject({ code: 'paused', nextAction: 'wait', retryable: true });
      expect(error?.message).toMatch(/^effects\.keyed is paused: maintenance\. It ends at 20.*Nothing was recorded/);
      expect(error?.details).toEqual({ reason: 'maintenance', since: begun.since, until: begun.until });
    }
    expect(stack.requests()).toHaveLength(before);
    const asked = { tool: 'effects.keyed', args: { ref: 'paused 0' }, stepId: 'p0' };
    const answer = await fetch(`${stack.url}/v1/intents`, {
      ...{ method: 'POST', body: JSON.stringify(asked) },
      headers: { authorization: `Bearer ${agent.token}`, 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(423);
    const seconds = Math.floor(Date.parse(begun.until ?? '') / 1_000);
    expect(Date.parse(answer.headers.get('retry-after') ?? '')).toBe(seconds * 1_000);
    expect((await agent.submit('effects.keyonly', { ref: 'another tool' }, { wait: '20s' })).status).toBe('committed');

    await resume(begun.id);
    const again = await agent.submit('effects.keyed', { ref: 'paused 0' }, { stepId: 'p0', wait: '20s' });
    expect(again.status).toBe('committed');
    expect(stack.effects(await stack.keyOf(again.intentId))).toHaveLength(1);
  });

  test('what was recorded before is still told to whoever asks again', async () => {
    const agent = await stack.agent();
    const submit = () => agent.submit('effects.keyed', { ref: agent.runId }, { stepId: 's1', wait: '20s' });
    const { intentId } = await submit();
    await pause({ tool: 'effects.keyed' });
    expect(await submit()).toMatchObject({ intentId, status: 'committed', replayed: true });
  });

  test('what was admitted and not sent waits, and goes on when it is resumed', async () => {
    const agent = await stack.agent();
    const dispatchers = stack.services.filter(({ name }) => name === 'dispatcher');
    for (const each of dispatchers) each.kill('SIGSTOP');
    const ids: string[] = [];
    try {
      for (let i = 0; i < 5; i += 1) {
        ids.push((await agent.submit('effects.keyed', { ref: `waits ${i}` }, { stepId: `w${i}` })).intentId);
      }
      const { pause: begun, underWay } = await pause({ namespace: 'effects', tenant: 'acme' });
      expect(underWay).toBe(0);
      for (const each of dispatchers) each.kill('SIGCONT');
      // Another tool of the same dispatchers comes and goes meanwhile: they are awake, and have been rung for both.
      await committed([(await agent.submit('orders.get', { order_id: 'ord_1' }, { wait: '20s' })).intentId]);
      for (const id of ids) expect((await stack.store.intents.load(id))?.state).toBe('authorized');
      await resume(begun.id);
    } finally {
      for (const each of dispatchers) each.kill('SIGCONT');
    }
    await committed(ids);
    for (const id of ids) expect(stack.effects(await stack.keyOf(id))).toHaveLength(1);
  });

  test('what is under way is not touched, and the answer says so', async () => {
    const agent = await stack.agent();
    stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour: { delayMs: 2_500 } });
    const { intentId } = await agent.submit('effects.noticed', { ref: agent.runId }, { stepId: 's1' });
    await eventually('it is on the wire', async () => stack.requests(await stack.keyOf(intentId)).length === 1);
    const { underWay } = await pause({ tool: 'effects.noticed' });
    expect(underWay).toBe(1);
    await committed([intentId]);
  });

  test('what is only published is recorded, since nobody would hear a refusal, and waits', async () => {
    const { pause: begun } = await pause({});
    const agent = await stack.agent();
    await agent.publish(JSON.stringify({ tool: 'effects.keyed', args: { ref: agent.runId }, stepId: 's1' }));
    const listed = `/v1/intents?runId=${agent.runId}`;
    const { intentId } = await eventually('it is recorded', async () => {
      const { body } = await stack.operator().get<{ items: { intentId: string }[] }>(listed);
      return body.items[0];
    });
    expect((await stack.store.intents.load(intentId))?.state).toBe('authorized');
    await resume(begun.id);
    await committed([intentId]);
    expect(stack.effects(await stack.keyOf(intentId))).toHaveLength(1);
  });

  test('of one tenant, others go on', async () => {
    await pause({ tenant: 'globex' });
    const agent = await stack.agent();
    expect((await agent.submit('effects.keyed', { ref: agent.runId }, { wait: '20s' })).status).toBe('committed');
    const theirs = await stack.agent({ tenant: 'globex' });
    expect((await theirs.submit('effects.keyed', { ref: theirs.runId })).error?.code).toBe('paused');
  });
});

test('a pause ends by itself when its time is over', async () => {
  const { pause: begun } = await pause({ upstream: 'flooded', for: '2s' });
  expect(Date.parse(begun.until ?? '') - Date.parse(begun.since)).toBeLessThanOrEqual(2_000);
  const agent = await stack.agent();
  const submit = () => agent.submit('effects.flooded', { ref: agent.runId }, { stepId: 's1', wait: '20s' });
  expect((await submit()).error?.code).toBe('paused');
  const { status } = await eventually('it is admitted', async () => {
    const answer = await submit();
    return answer.error?.code === 'paused' ? null : answer;
  });
  expect(status).toBe('committed');
  expect(await inForce()).toEqual([]);
});

test('the same scope again replaces the pause, with its reason and its end', async () => {
  await pause({ tool: 'effects.keyed', for: '1h' });
  const { pause: second } = await pause({ tool: 'effects.keyed', reason: 'longer than we thought' });
  expect(second).toMatchObject({ reason: 'longer than we thought', until: null });
  expect(await inForce()).toEqual([second]);
});

test.each<[string, object, number, RegExp]>([
  ['a tool that is not there', { tool: 'effects.keyd' }, 422, /Did you mean effects\.keyed\?/],
  [
    'an upstream that no tool has',
    { upstream: 'none' },
    422,
    /No tool is within that scope, so nothing would be paused\."/,
  ],
  [
    'a tool of another namespace',
    { tool: 'effects.keyed', namespace: 'orders' },
    422,
    /No tool is within that scope, so nothing would be paused\."/,
  ],
  ['no reason', { tool: 'effects.keyed', reason: '' }, 400, /reason/],
  ['a time that is none', { tool: 'effects.keyed', for: 'soon' }, 400, /for/],
  ['a time beyond all measure', { tool: 'effects.keyed', for: '10000h' }, 400, /for/],
  ['a tenant that can be none', { tenant: 'Acme Inc.' }, 400, /the name of a tenant/],
  ['a field that is not known', { tol: 'effects.keyed' }, 400, /tol/],
])('is refused for %s, and nothing is paused', async (_, body, status, says) => {
  const answer = await stack.operator().put<Refused>('/v1/pauses', { reason: 'maintenance', ...body });
  expect(answer.status).toBe(status);
  expect(JSON.stringify(answer.body)).toMatch(says);
  expect(await inForce()).toEqual([]);
});

test('cannot be ended twice, nor under an id that is none', async () => {
  const { pause: begun } = await pause({ tool: 'effects.keyed' });
  await resume(begun.id);
  expect((await stack.operator().delete(`/v1/pauses/${begun.id}`)).status).toBe(404);
  expect((await stack.operator().delete('/v1/pauses/x')).status).toBe(404);
});

test('the command line pauses, lists and resumes', async () => {
  const cli = commandLine({ INTENDANT_URL: stack.url, INTENDANT_OPERATOR_KEY: operatorKey });
  try {
    const paused = await cli.run([
      'pause',
      '--namespace',
      'effects',
      '--tenant',
      'acme',
      '--reason',
      'too many refunds',
    ]);
    const [{ id } = { id: '' }] = await inForce();
    expect(paused).toEqual({
      ...{ status: 0, err: [] },
      out: [`paused namespace effects of tenant acme until: intendant resume ${id}`],
    });
    const { out } = await cli.run(['pauses']);
    expect(out.join('\n')).toMatch(new RegExp(`${id} +namespace effects of tenant acme .* olga +too many refunds`));
    expect(await cli.run(['resume', id])).toMatchObject({
      status: 0,
      out: ['namespace effects of tenant acme goes on'],
    });
    expect(await cli.run(['pauses'])).toMatchObject({ status: 0, out: ['nothing is paused'] });
    expect(await cli.run(['resume', id])).toMatchObject({
      ...{ status: 1, err: [expect.stringMatching(/^error: There is no such pause in force/)] },
    });
  } finally {
    cli.remove();
  }
});

test('an operator of one tenant pauses that tenant only, and ends what is of that tenant', async () => {
  const tom = new Operator(() => stack.url, tomsKey);
  const own = await tom.put<Begun>('/v1/pauses', { tool: 'effects.keyed', reason: 'ours' });
  expect(own.body.pause).toMatchObject({ tenant: 'acme', author: 'tom' });
  const other = await tom.put<Refused>('/v1/pauses', { tenant: 'globex', reason: 'theirs' });
  expect(other).toMatchObject({
    status: 403,
    body: { error: { code: 'forbidden', nextAction: 'stop', message: expect.stringContaining('globex') } },
  });
  const { pause: everybodys } = await pause({ tool: 'effects.keyed' });
  const { pause: ofAcme } = await pause({ tool: 'effects.keyed', tenant: 'acme' });
  const { pause: theirs } = await pause({ tool: 'effects.keyed', tenant: 'globex' });
  const listed = (await tom.get<{ items: Pause[] }>('/v1/pauses')).body.items.map(({ id }) => id);
  expect(listed).toEqual([own.body.pause.id, everybodys.id, ofAcme.id]);
  for (const { id } of [everybodys, ofAcme, theirs]) expect((await tom.delete(`/v1/pauses/${id}`)).status).toBe(404);
  expect((await tom.delete(`/v1/pauses/${own.body.pause.id}`)).status).toBe(200);
});

test('nobody else pauses or resumes', async () => {
  const { pause: begun } = await pause({ tool: 'effects.keyed' });
  const agent = await stack.agent();
  const credentials: [string, number][] = [
    [agent.token, 403],
    [serviceKey, 403],
    ['nonsense', 401],
    [verasKey, 403],
  ];
  for (const [key, status] of credentials) {
    const somebody = new Operator(() => stack.url, key);
    expect((await somebody.put('/v1/pauses', { reason: 'mine' })).status).toBe(status);
    expect((await somebody.delete(`/v1/pauses/${begun.id}`)).status).toBe(status);
  }
  expect(await inForce()).toEqual([begun]);
});
