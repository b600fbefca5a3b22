import { startTcpProxy, type TcpProxy } from '@intendant/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { audit } from './audit.js';
import { eventually } from './eventually.js';
import { submitUntilAnswered } from './persistent-submit.js';
import { runService } from './run-service.js';
import type { Service } from './service.js';
import { Stack } from './stack.js';
import { stopped } from './stopped-process.js';
import { takeBells } from './stream-listing.js';

const keyed = 'effects.keyed';
const searched = 'effects.searched';
const read = 'orders.persistent';
type Tool = typeof keyed | typeof searched | typeof read;
const all: readonly Tool[] = [keyed, searched, read];

interface Boundary {
  readonly service: string;
  /** `point:nth`. The calls are made at once: at the third visit all of them have come that far. */
  readonly at: string;
  readonly tools: readonly Tool[];
}
const kill = (service: string, at: string, tools = all): Boundary => ({ service, at, tools });

const relayKills = [kill('outbox-relay', 'relay.after_claim:1'), kill('outbox-relay', 'relay.after_publish:1')];
const policyKills = [
  kill('policy', 'door.before_append:1'),
  kill('policy', 'door.after_append:1'),
  kill('policy', 'outbox.before_publish:1'),
  kill('policy', 'outbox.after_publish:1'),
  kill('policy', 'policy.before_reply:1'),
];
const reconcilerKills = [
  kill('reconciler', 'reconciler.after_claim:1', [keyed, searched]),
  kill('reconciler', 'reconciler.after_lookup:1', [keyed, searched]),
  kill('reconciler', 'reconciler.after_decision:1', [keyed, searched]),
];
const dispatcherKills = [
  kill('dispatcher', 'dispatcher.after_ring:1'),
  kill('dispatcher', 'door.after_append:1'),
  kill('dispatcher', 'dispatcher.after_start:3'),
  kill('dispatcher', 'dispatcher.after_send:3'),
  kill('dispatcher', 'dispatcher.after_answer:1'),
  kill('dispatcher', 'dispatcher.after_verdict:1'),
  kill('dispatcher', 'outbox.before_publish:1'),
  kill('dispatcher', 'outbox.after_publish:1'),
];
const kills = [...relayKills, ...policyKills, ...reconcilerKills, ...dispatcherKills];
const pauses = [
  kill('dispatcher', 'dispatcher.after_ring:1'),
  kill('dispatcher', 'dispatcher.after_start:1', [searched]),
  // Stopped between the last look at the lease and the first byte: only the key, which the upstream remembers, helps.
  kill('dispatcher', 'dispatcher.after_send:1', [keyed]),
  kill('dispatcher', 'dispatcher.after_answer:1', [searched]),
];

let stack: Stack;
/** Intents that were under way when the fault struck. */
const hit = new Map<Boundary, string[]>();
const paused: { service: Service; proxy: TcpProxy }[] = [];

const refOf = ({ service, at }: Boundary) => `${service} ${at}`;

/** One call of each tool, answered however often it takes. */
async function submit(boundary: Boundary): Promise<string[]> {
  const agent = await stack.agent();
  const answers = await Promise.all(
    boundary.tools.map((tool) => {
      const args = tool === read ? { order_id: 'ord_1' } : { ref: refOf(boundary) };
      return submitUntilAnswered(agent, { tool, args, stepId: tool });
    }),
  );
  return answers.map((answer) => answer.intentId);
}

/** Starts the service and waits until it dies where it is told to; its work waits for it already. */
async function dies({ service, at }: Boundary): Promise<void> {
  const { how, stdout } = await runService(service, { ...stack.environment(), INTENDANT_FAULT: `${at}:kill` });
  if (how !== 'SIGKILL') throw new Error(`${service} ended with ${how} instead of dying at ${at}:\n${stdout}`);
}

/** What a relay finds was left by a service that died before it could publish. */
async function killRelays(): Promise<void> {
  for (const boundary of relayKills) {
    const answers = submit(boundary);
    await dies(kill('policy', 'outbox.before_publish:1'));
    const policy = await stack.launch('policy');
    hit.set(boundary, await answers);
    await policy.stop();
    await dies(boundary);
  }
}

/** Nobody answers the agents before the last one; they send their calls again until somebody does. */
async function killPolicies(): Promise<void> {
  const answers: Promise<void>[] = [];
  for (const boundary of policyKills) {
    answers.push(submit(boundary).then((ids) => void hit.set(boundary, ids)));
    await dies(boundary);
  }
  await stack.launch('policy');
  await Promise.all(answers);
}

/** What the earlier ones left is taken away from the bus, so that each meets its own calls and nothing else. */
async function silence(): Promise<void> {
  const size = 'SELECT count(*)::int AS size FROM outbox';
  await eventually('the outbox is empty', async () => {
    return (await stack.database.query<{ size: number }>(size))[0]?.size === 0;
  });
  await takeBells(stack);
}

async function killDispatchers(): Promise<void> {
  for (const boundary of dispatcherKills) {
    await silence();
    hit.set(boundary, await submit(boundary));
    await dies(boundary);
  }
}

async function makeUnknown(boundary: Boundary): Promise<void> {
  const ids = await submit(boundary);
  hit.set(boundary, ids);
  await eventually('the outcomes are unknown', async () => {
    const intents = await Promise.all(ids.map((id) => stack.store.intents.load(id)));
    return intents.every((intent) => intent?.state === 'unknown');
  });
}

async function killReconcilers(): Promise<void> {
  for (const boundary of reconcilerKills) {
    // One that happened and one that did not.
    stack.upstream.reset();
    const bodyContains = refOf(boundary);
    stack.upstream.behave({ match: { path: '/effects/keyed', bodyContains }, behaviour: { then: 'status:502' } });
    const lost = { commit: false, then: 'reset' } as const;
    stack.upstream.behave({ match: { path: '/effects/searched', bodyContains }, behaviour: lost });
    misbehave();
    await makeUnknown(boundary);
    await dies(boundary);
  }
}

async function pauseDispatchers(): Promise<void> {
  for (const boundary of pauses) {
    await silence();
    const proxy = await startTcpProxy(stack.nats.port);
    const env = { INTENDANT_NATS_URL: proxy.through(stack.nats.url) };
    const service = await stack.launch('dispatcher', `${boundary.at}:pause`, env);
    paused.push({ service, proxy });
    hit.set(boundary, await submit(boundary));
    await stopped(service);
    // A stopped process keeps its subscriptions; without them the next replica gets what is rung.
    proxy.partition();
  }
}

/** Answers take a while, so that calls made at once are on the wire at once; no key is looked at for the lookup tool. */
function misbehave(): void {
  const always = { times: 'always' } as const;
  stack.upstream.behave({ match: { path: '/effects/keyed' }, ...always, behaviour: { delayMs: 150 } });
  stack.upstream.behave({
    match: { path: '/effects/searched' },
    ...always,
    behaviour: { delayMs: 150, honourKey: false },
  });
  stack.upstream.behave({ match: { path: '/orders/ord_1' }, ...always, behaviour: { delayMs: 150 } });
}

beforeAll(async () => {
  stack = await Stack.start({ services: [] });
  misbehave();
  await killRelays();
  const [dispatcher] = await Promise.all([stack.launch('dispatcher'), stack.launch('outbox-relay')]);
  await killPolicies();
  await killReconcilers();
  await dispatcher.stop();
  await killDispatchers();
  await pauseDispatchers();
  // A dead reconciler's claim holds for half a minute; the test lets that time pass at once.
  await stack.database.query("UPDATE intents SET wake_at = clock_timestamp() WHERE state = 'unknown'");
  await Promise.all([stack.launch('dispatcher'), stack.launch('reconciler')]);
}, 180_000);
afterAll(() => stack.stop());

async function settledAll(boundary: Boundary): Promise<void> {
  const ids = hit.get(boundary) ?? [];
  expect(ids).toHaveLength(boundary.tools.length);
  for (const id of ids) expect(await stack.settled(id), id).toBe('committed');
}

async function effectsOf(boundary: Boundary): Promise<Record<string, number>> {
  const ids = hit.get(boundary) ?? [];
  const counts = ids.map(async (id, i) => [boundary.tools[i], stack.effects(await stack.keyOf(id)).length]);
  return Object.fromEntries(await Promise.all(counts));
}

const once = (tools: readonly Tool[]) => Object.fromEntries(tools.map((tool) => [tool, tool === read ? 0 : 1]));

describe.each(kills)('when $service is killed at $at', (boundary) => {
  test('every call under way takes effect once and ends as the ledger says (T1)', async () => {
    await settledAll(boundary);
    expect(await effectsOf(boundary)).toEqual(once(boundary.tools));
  });
});

describe('when a dispatcher is stopped for longer than its lease and then goes on', () => {
  beforeAll(async () => {
    for (const boundary of pauses) await settledAll(boundary);
    for (const { service, proxy } of paused) {
      proxy.heal();
      service.kill('SIGCONT');
    }
    // A dispatcher ends when all it had in hand is done.
    await Promise.all(paused.map(({ service }) => service.stop()));
    await Promise.all(paused.map(({ proxy }) => proxy.close()));
  });

  test.each(pauses)('calls that were at $at take effect once (T1, S39)', async (boundary) => {
    expect(await effectsOf(boundary)).toEqual(once(boundary.tools));
  });

  test('the log, the read model and the ledger agree about all of it (T1)', async () => {
    expect(await audit(stack)).toEqual([]);
  });
});
