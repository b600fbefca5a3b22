import type { ToolDefinition } from '@intendant/contracts';
import { ApprovalSeals } from '@intendant/credentials';
import type { In } from '@intendant/intent';
import { createLogger } from '@intendant/runtime';
import { type Reservation, Store } from '@intendant/store';
import { createDatabase, MisbehavingServer, proposal, type TestDatabase, toolAt } from '@intendant/testing';
import { createRegistry } from '@intendant/tools';
import { Upstreams } from '@intendant/upstream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Attempts } from './attempts.js';
import { Dispatcher } from './dispatcher.js';
import { Notices } from './notices.js';

let database: TestDatabase;
let store: Store;
let server: MisbehavingServer;
let tool: ToolDefinition;
const started: (() => Promise<void>)[] = [];

beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(async () => {
  store = await Store.open({ url: database.url, name: 'reserve-spec' });
  server = await MisbehavingServer.start();
  tool = toolAt(server.url, { limits: { concurrency: 2 } });
});
afterEach(async () => {
  await server.stop();
  for (const stop of started.splice(0)) await stop();
  await store.close();
});
afterAll(() => database.drop());

const checks = { seals: new ApprovalSeals('approval-secret-of-this-spec-0123456789'), policy: 'p1' };

function dispatcher(...tools: ToolDefinition[]): Dispatcher {
  const registry = createRegistry(tools);
  const upstream = new Upstreams((t, data) => registry.checkOutput(t, data));
  const logger = createLogger('spec', 'silent');
  const made = new Dispatcher(
    new Attempts(store, registry, upstream, logger, checks),
    registry,
    new Notices(registry, () => {}),
    logger,
  );
  started.push(async () => {
    await made.stop();
    await upstream.close();
  });
  return made;
}

function recording(of: ToolDefinition) {
  const made = proposal({ tool: of.name, contractDigest: of.contractDigest, terms: of.terms });
  return { intentId: made.intentId, command: { type: 'record', proposal: made, ruling: { allow: true } } } as const;
}

async function authorized(of: ToolDefinition): Promise<In<'authorized'>> {
  const { intent } = await store.door.execute(recording(of));
  if (intent?.state !== 'authorized') throw new Error(`the intent is ${intent?.state}`);
  return intent;
}

/** Takes up to `count` slots for an intent. */
function reserve(from: Dispatcher, intent: In<'authorized'>, count: number): Reservation[] {
  return Array.from({ length: count }, () => from.reserve(intent)).filter((each) => each !== null);
}

function releaseAll(reservations: readonly Reservation[]): void {
  for (const each of reservations) each.release();
}

const state = async (intentId: string) => (await store.intents.load(intentId))?.state;

describe('a slot for an intent that is being recorded', () => {
  test('is not given while its tool is paused for its tenant, nor is an attempt started or sent', async () => {
    const intent = await authorized(tool);
    const { intentId, tenant } = intent.proposal;
    const made = dispatcher(tool);
    const scope = { tenant, tool: tool.name, namespace: null, upstream: null };
    const [reservation] = reserve(made, intent, 1);
    const pause = await store.pauses.begin({
      ...{ ...scope, reason: 'maintenance', author: 'olga', authorTenant: null, forMs: null },
    });
    // What is known of pauses is too old now, also for whoever has decided before.
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 1_001);
    const { intent: started } = await store.door.execute({
      ...{ intentId, command: { type: 'start_attempt', attemptId: reservation?.attemptId ?? '' } },
    });
    if (started?.state !== 'dispatching') throw new Error(`the intent is ${started?.state}`);
    reservation?.started(started);
    await vi.waitUntil(async () => (await state(intentId)) === 'authorized');
    expect(server.requests).toHaveLength(0);
    expect(reserve(made, intent, 1)).toEqual([]);
    const { id, toolVersion } = { id: intentId, toolVersion: intent.proposal.toolVersion };
    await made.take({ intents: [{ id, version: 4, tool: tool.name, toolVersion }] });
    expect(await state(intentId)).toBe('authorized');
    await store.pauses.end(pause.id, 'olga', null);
    vi.restoreAllMocks();
  });

  test('is one of those that its tool has', async () => {
    const intent = await authorized(tool);
    const made = dispatcher(tool);
    const [one, two, ...more] = reserve(made, intent, 5);
    expect(more).toEqual([]);
    expect(one?.attemptId).not.toBe(two?.attemptId);
    one?.release();
    const again = reserve(made, intent, 5);
    expect(again).toHaveLength(1);
    releaseAll([...again, ...(two ? [two] : [])]);
  });

  test('is one of those that the process has over all tools', async () => {
    const wide = toolAt(server.url, {
      limits: { concurrency: 1_000 },
      upstream: { name: 'wide', concurrency: 1_000 },
      tool: { name: 'wide.act' },
    });
    const [many, few] = [await authorized(wide), await authorized(tool)];
    const made = dispatcher(wide, tool);
    const reserved = reserve(made, many, 600);
    expect(reserved).toHaveLength(512);
    expect(reserve(made, few, 5)).toEqual([]);
    releaseAll(reserved.splice(0, 5));
    const ofTheOther = reserve(made, few, 5);
    expect(ofTheOther, 'no slot of the tool was lost').toHaveLength(2);
    releaseAll([...reserved, ...ofTheOther]);
  });

  test('is one of those that its upstream has over all its tools, the smallest number that one of them declares', async () => {
    const shared = (name: string, upstream: string, concurrency: number) =>
      toolAt(server.url, { upstream: { name: upstream, concurrency }, tool: { name } });
    const tools = [shared('a.act', 'crm', 5), shared('b.act', 'crm', 3), shared('c.act', 'mail', 5)] as const;
    const [a, b, c] = await Promise.all(tools.map(authorized));
    if (!a || !b || !c) throw new Error('not authorized');
    const made = dispatcher(...tools);
    const ofA = reserve(made, a, 2);
    const ofB = reserve(made, b, 5);
    expect([ofA.length, ofB.length, reserve(made, a, 1).length]).toEqual([2, 1, 0]);
    const ofC = reserve(made, c, 9);
    expect(ofC, 'another upstream is not full').toHaveLength(5);
    releaseAll([...ofA, ...ofB, ...ofC]);
    const again = [...reserve(made, b, 5), ...reserve(made, c, 9)];
    expect(again, 'no slot of tools or upstreams was lost').toHaveLength(8);
    releaseAll(again);
  });

  test('is not there for a tool or a version that is not loaded here', async () => {
    const intent = await authorized(tool);
    expect(dispatcher({ ...tool, version: 2 }).reserve(intent)).toBeNull();
    expect(dispatcher(toolAt(server.url, { tool: { name: 'another.act' } })).reserve(intent)).toBeNull();
  });

  test('is not there when all are taken by announced intents', async () => {
    server.script({ at: 'request', then: 'hang' }, { at: 'request', then: 'hang' });
    const made = dispatcher(tool);
    const intents = [await authorized(tool), await authorized(tool)];
    const announced = intents.map(({ proposal: { intentId: id }, version }) => {
      return { id, version, tool: tool.name, toolVersion: tool.version };
    });
    await made.take({ intents: announced });
    await server.seen(2);
    expect(made.reserve(await authorized(tool))).toBeNull();
    server.resetConnections();
  });

  test('that is released is taken by an announced intent that waits for one', async () => {
    const made = dispatcher(tool);
    const intent = await authorized(tool);
    const reserved = reserve(made, intent, 2);
    const { intentId: id } = intent.proposal;
    await made.take({ intents: [{ id, version: intent.version, tool: tool.name, toolVersion: tool.version }] });
    expect(await state(id)).toBe('authorized');
    reserved[0]?.release();
    await vi.waitFor(async () => expect(await state(id)).toBe('committed'), { timeout: 10_000, interval: 20 });
    reserved[1]?.release();
  });
});

describe('the door with a dispatcher in its process', () => {
  test('has what it records sent once, without an announcement, and the slots are free again', async () => {
    const made = dispatcher(tool);
    store.door.startWith(made);
    for (let round = 0; round < 3; round += 1) {
      const commands = [recording(tool), recording(tool), recording(tool)];
      const results = await Promise.all(commands.map((command) => store.door.execute(command)));
      expect(results.map(({ intent }) => intent?.state)).toEqual(['dispatching', 'dispatching', 'authorized']);
      for (const { intentId } of commands.slice(0, 2)) {
        await vi.waitFor(async () => expect(await state(intentId)).toBe('committed'), { interval: 10 });
      }
    }
    expect(server.requests).toHaveLength(6);
    const attempts = server.requests.map(({ headers }) => headers['x-attempt-id']);
    expect(new Set(attempts).size).toBe(6);
    expect(await store.verify()).toEqual([]);
  });

  test('gives back the slot of an intent that was recorded before', async () => {
    const made = dispatcher(tool);
    const waiting = await authorized(tool);
    const first = recording(tool);
    await store.door.execute(first);
    store.door.startWith(made);
    for (let round = 0; round < 5; round += 1) {
      const { intentId, command } = recording(tool);
      const repeated = { ...command, proposal: { ...command.proposal, key: first.command.proposal.key } };
      expect((await store.door.execute({ intentId, command: repeated })).kind).toBe('unchanged');
    }
    expect(server.requests).toEqual([]);
    const reserved = reserve(made, waiting, 5);
    expect(reserved).toHaveLength(2);
    releaseAll(reserved);
  });
});

describe('stopping', () => {
  test('gives no slot any more, and waits for those that were given', async () => {
    const intent = await authorized(tool);
    const made = dispatcher(tool);
    const reserved = reserve(made, intent, 2);
    let over = false;
    const stopping = made.stop().then(() => {
      over = true;
    });
    expect(made.reserve(intent)).toBeNull();
    reserved[0]?.release();
    await store.ping();
    expect(over).toBe(false);
    reserved[1]?.release();
    await stopping;
    expect(made.reserve(intent)).toBeNull();
  });

  test('before any slot was given gives none', async () => {
    const intent = await authorized(tool);
    const made = dispatcher(tool);
    await made.stop();
    expect(made.reserve(intent)).toBeNull();
  });

  test('waits for the request and the verdict of an attempt that was being recorded', async () => {
    const made = dispatcher(tool);
    store.door.startWith(made);
    server.script({ at: 'request', then: 'hang' });
    const blocker = await database.session();
    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE intents IN EXCLUSIVE MODE');
    const command = recording(tool);
    const answer = store.door.execute(command);
    await vi.waitFor(async () => {
      const waits = "application_name = 'reserve-spec' AND wait_event_type = 'Lock'";
      expect(await database.query(`SELECT FROM pg_stat_activity WHERE ${waits}`)).toHaveLength(1);
    });
    let over = false;
    const stopping = made.stop().then(() => {
      over = true;
    });
    await blocker.query('ROLLBACK');
    await blocker.end();
    expect((await answer).intent?.state).toBe('dispatching');
    await server.seen(1);
    expect(over).toBe(false);
    server.resetConnections();
    await stopping;
    expect(await state(command.intentId)).toBe('unknown');
    expect(server.requests).toHaveLength(1);
  });
});
