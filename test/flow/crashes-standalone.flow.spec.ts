import { startTcpProxy } from '@intendant/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { audit } from './audit.js';
import { sized } from './full-size.js';
import { submitUntilAnswered } from './persistent-submit.js';
import { runService } from './run-service.js';
import { Stack } from './stack.js';
import { stopped } from './stopped-process.js';

const keyed = 'effects.keyed';
const searched = 'effects.searched';
/** A read is tried again at once, so each process that dies takes one try with it. */
const read = 'orders.persistent';
type Tool = typeof keyed | typeof searched | typeof read;
const all: readonly Tool[] = [keyed, searched, read];

/** `point:nth`. The calls are made at once: at the third visit all of them have come that far. */
const short = ['door.after_append:1', 'dispatcher.after_send:3', 'dispatcher.after_verdict:1'];
const kills = sized(short, [
  'door.before_append:1',
  'policy.before_reply:1',
  'outbox.before_publish:1',
  'outbox.after_publish:1',
  'dispatcher.after_start:3',
  'dispatcher.after_answer:1',
  ...short,
]);
const pause = 'dispatcher.after_start:1';

let stack: Stack;
/** Intents that were under way when the fault struck, by where it did. */
const hit = new Map<string, string[]>();

/** One call of each tool, sent again until somebody answers. */
async function submit(at: string, tools: readonly Tool[] = all): Promise<void> {
  const agent = await stack.agent();
  const answers = await Promise.all(
    tools.map((tool) => {
      const args = tool === read ? { order_id: 'ord_1' } : { ref: at };
      return submitUntilAnswered(agent, { tool, args, stepId: tool }, { tryMs: 1_000, timeoutMs: 60_000 });
    }),
  );
  hit.set(
    at,
    answers.map(({ intentId }) => intentId),
  );
}

/** Starts the process and waits until it dies where it is told to; calls wait for it already. */
async function dies(at: string): Promise<void> {
  const env = { ...stack.environment(), INTENDANT_HTTP_PORT: '0', INTENDANT_FAULT: `${at}:kill` };
  const { how, stdout } = await runService('standalone', env);
  if (how !== 'SIGKILL') throw new Error(`standalone ended with ${how} instead of dying at ${at}:\n${stdout}`);
}

/** Answers take a while, so that calls made at once are on the wire at once; no key is looked at for the lookup tool. */
function misbehave(): void {
  const always = { times: 'always' } as const;
  const slow = { delayMs: 150 };
  stack.upstream.behave({ match: { path: '/effects/keyed' }, ...always, behaviour: slow });
  stack.upstream.behave({
    match: { path: '/effects/searched' },
    ...always,
    behaviour: { ...slow, honourKey: false },
  });
  stack.upstream.behave({ match: { path: '/orders/ord_1' }, ...always, behaviour: slow });
}

beforeAll(async () => {
  stack = await Stack.start({ services: [] });
  misbehave();
}, 60_000);
afterAll(() => stack.stop());

async function settledAll(at: string, tools: readonly Tool[] = all): Promise<void> {
  const ids = hit.get(at) ?? [];
  expect(ids).toHaveLength(tools.length);
  for (const id of ids) expect(await stack.settled(id), id).toBe('committed');
}

async function effectsOf(at: string, tools: readonly Tool[] = all): Promise<Record<string, number>> {
  const ids = hit.get(at) ?? [];
  const counts = ids.map(async (id, i) => [tools[i], stack.effects(await stack.keyOf(id)).length]);
  return Object.fromEntries(await Promise.all(counts));
}

describe('a process that is stopped for longer than its lease', () => {
  test(`and goes on after another one took over from it at ${pause} sends nothing (T1, S39)`, async () => {
    const proxy = await startTcpProxy(stack.nats.port);
    const env = { INTENDANT_NATS_URL: proxy.through(stack.nats.url) };
    const first = await stack.launch('standalone', `${pause}:pause`, env);
    const answered = submit(pause, [searched]);
    await stopped(first);
    // A stopped process keeps its subscriptions; without them the next replica gets what is asked.
    proxy.partition();
    const second = await stack.launch('standalone');
    await answered;
    await settledAll(pause, [searched]);
    proxy.heal();
    first.kill('SIGCONT');
    // It ends when all that it had in hand is done.
    await first.stop();
    await proxy.close();
    await second.stop();
    expect(await effectsOf(pause, [searched])).toEqual({ [searched]: 1 });
    expect(await audit(stack)).toEqual([]);
  }, 60_000);
});

describe('a process that is everything at once', () => {
  beforeAll(async () => {
    const answers: Promise<void>[] = [];
    for (const at of kills) {
      answers.push(submit(at));
      await dies(at);
    }
    // What a dead reconciler had claimed is nobody's for half a minute; the test lets that time pass at once.
    await stack.database.query(
      `UPDATE intents SET wake_at = CASE state WHEN 'unknown' THEN clock_timestamp() ELSE lease_until END
       WHERE state IN ('unknown', 'dispatching')`,
    );
    await stack.launch('standalone');
    await Promise.all(answers);
  }, 90_000);

  test.each(kills)(
    'that is killed at %s leaves calls that take effect once and end as the ledger says (T1)',
    async (at) => {
      await settledAll(at);
      expect(await effectsOf(at)).toEqual({ [keyed]: 1, [searched]: 1, [read]: 0 });
    },
  );

  test('leaves a log, a read model and a ledger that agree about all of it (T1)', async () => {
    expect(await audit(stack)).toEqual([]);
  });
});
