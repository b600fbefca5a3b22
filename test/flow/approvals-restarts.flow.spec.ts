import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { once, onTheWire, People } from './approvals-people.js';
import { audit } from './audit.js';
import { eventually } from './eventually.js';
import { sized } from './full-size.js';
import { submitUntilAnswered } from './persistent-submit.js';
import type { Service } from './service.js';
import { Stack } from './stack.js';

const roles = ['gateway', 'policy', 'outbox-relay', 'dispatcher', 'reconciler'] as const;
type Role = (typeof roles)[number];

let stack: Stack;
let people: People;
const running = new Map<Role, Service>();

beforeAll(async () => {
  stack = await Stack.start({ services: [] });
  people = new People(stack);
  await start(roles);
}, 60_000);
afterAll(() => stack?.stop());

async function start(which: readonly Role[], fault?: string): Promise<void> {
  await Promise.all(which.map(async (role) => running.set(role, await stack.launch(role, fault))));
}

/** As in a power failure; the next ones know nothing. */
async function end(which: readonly Role[]): Promise<void> {
  for (const role of which) running.get(role)?.kill('SIGKILL');
  await Promise.all(which.map((role) => running.get(role)?.ended));
}

async function restartAll(but: readonly Role[] = []): Promise<void> {
  await end(roles);
  await start(roles.filter((role) => !but.includes(role)));
}

/** Says it until a gateway has answered; one that dies over it answers nothing. */
async function decided(id: string, person: 'erin' | 'frank' = 'erin'): Promise<void> {
  await eventually(`${person} was answered`, async () => (await people.approve(id, person)).status === 200);
}

describe('an approval', () => {
  test('outlives every service, between every two steps, and is used once (T5)', async () => {
    const agent = await stack.agent();
    const { intentId } = await agent.submit('effects.dual', { ref: 'restarts' }, { stepId: 's1' });
    await restartAll();
    const { digest } = await people.card(intentId);
    await restartAll();
    expect((await people.approve(intentId, 'erin', digest)).body.status).toBe('awaiting_approval');
    await restartAll(['dispatcher']);
    expect((await people.card(intentId)).given).toMatchObject([{ by: 'erin' }]);
    expect((await people.approve(intentId, 'frank', digest)).body.status).toBe('authorized');
    await restartAll();
    expect(await stack.settled(intentId, 40_000)).toBe('committed');
    await restartAll();
    const again = await agent.submit('effects.dual', { ref: 'restarts' }, { stepId: 's1', wait: '20s' });
    expect(again).toMatchObject({ intentId, status: 'committed', replayed: true });
    expect(await onTheWire(stack, intentId)).toEqual(once);
  }, 120_000);

  test('that is given while nobody waits and nothing runs but a gateway leads to one dispatch (T5)', async () => {
    const agent = await stack.agent();
    const { intentId } = await agent.submit('effects.approved', { ref: 'nobody waits' }, { stepId: 's1' });
    await end(roles);
    await start(['gateway']);
    expect((await people.approve(intentId)).body.status).toBe('authorized');
    await end(['gateway']);
    await start(roles);
    expect(await stack.settled(intentId, 40_000)).toBe('committed');
    expect(await onTheWire(stack, intentId)).toEqual(once);
  }, 90_000);
});

type Point = readonly [Role, string];

const short: readonly Point[] = [
  ['policy', 'door.after_append:1'],
  ['gateway', 'door.after_append:1'],
  ['dispatcher', 'dispatcher.after_verify:1'],
  ['dispatcher', 'dispatcher.after_send:1'],
];
/** Each of these is met on the way from the request to its effect; whoever meets it dies. */
const points = sized<readonly Point[]>(short, [
  ['policy', 'door.before_append:1'],
  ['policy', 'outbox.before_publish:1'],
  ['policy', 'policy.before_reply:1'],
  ['gateway', 'door.before_append:1'],
  ['gateway', 'outbox.before_publish:1'],
  ['gateway', 'gateway.before_reply:1'],
  ['dispatcher', 'dispatcher.after_ring:1'],
  ['dispatcher', 'door.before_append:1'],
  ['dispatcher', 'door.after_append:1'],
  ['dispatcher', 'dispatcher.after_start:1'],
  ['dispatcher', 'dispatcher.before_send:1'],
  ['dispatcher', 'dispatcher.after_answer:1'],
  ['dispatcher', 'dispatcher.after_verdict:1'],
  ...short,
]);

describe('a service that dies between request, card, decision and dispatch', () => {
  test.each(points)(
    '(%s at %s) leaves one effect, and a log that tells it (T1, T5)',
    async (role, point) => {
      await end([role]);
      await start([role], `${point}:kill`);
      const victim = running.get(role);
      const agent = await stack.agent();
      const call = { tool: 'effects.approved', args: { ref: `${role} ${point}` }, stepId: 's1' };
      const submitted = submitUntilAnswered(agent, call, { tryMs: 1_000, timeoutMs: 60_000 });
      const replaced = victim?.ended.then(async (how) => {
        await start([role]);
        return how;
      });
      const { intentId } = await submitted;
      await decided(intentId);
      expect(await replaced).toBe('SIGKILL');
      expect(await stack.settled(intentId, 60_000)).toBe('committed');
      expect((await onTheWire(stack, intentId)).effects).toBe(1);
      const history = await stack.store.intents.history(intentId);
      expect(history.filter(({ event }) => event.type === 'approved')).toHaveLength(1);
      expect(await agent.submit(call.tool, call.args, { stepId: 's1', wait: '20s' })).toMatchObject({
        ...{ intentId, status: 'committed', outcome: 'executed' },
      });
    },
    90_000,
  );

  test('leaves a log, a read model and a ledger that agree about all of it (T1)', async () => {
    expect(await audit(stack)).toEqual([]);
  });
});
