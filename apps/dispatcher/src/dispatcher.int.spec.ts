import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newRequest } from '@intendant/approvals';
import { defaultApproval, type PreviewDefinition, type Ring, type ToolDefinition } from '@intendant/contracts';
import { ApprovalSeals } from '@intendant/credentials';
import type { Command, IntentEvent, LookupAnswer, Proposal } from '@intendant/intent';
import { createLogger } from '@intendant/runtime';
import { Store } from '@intendant/store';
import { createDatabase, MisbehavingServer, proposal, response, type TestDatabase, toolAt } from '@intendant/testing';
import { createRegistry } from '@intendant/tools';
import { Upstreams, type UpstreamsOptions } from '@intendant/upstream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
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
  store = await Store.open({ url: database.url, name: 'dispatcher-spec' });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});
beforeEach(async () => {
  server = await MisbehavingServer.start();
  tool = toolAt(server.url);
});
afterEach(async () => {
  await server.stop();
  for (const stop of started.splice(0)) await stop();
});

const checks = { seals: new ApprovalSeals('approval-secret-of-this-spec-0123456789'), policy: 'p1' };

function dispatcher(
  tools: ToolDefinition[] = [tool],
  logger = createLogger('spec', 'silent'),
  options: UpstreamsOptions = {},
): Dispatcher {
  const registry = createRegistry(tools);
  const upstream = new Upstreams((t, data) => registry.checkOutput(t, data), options);
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

/** Records intents of a tool and returns the doorbell for them. */
async function ringFor(count: number, of: ToolDefinition = tool, over: Partial<Proposal> = {}): Promise<Ring> {
  const recorded = Array.from({ length: count }, async () => {
    const made = proposal({ tool: of.name, contractDigest: of.contractDigest, terms: of.terms, ...over });
    const command = { type: 'record', proposal: made, ruling: { allow: true } } as const;
    const { intent } = await store.door.execute({ intentId: made.intentId, command });
    return { id: made.intentId, version: intent?.version ?? 0, tool: of.name, toolVersion: of.version };
  });
  return { intents: await Promise.all(recorded) };
}

const preview: PreviewDefinition = {
  request: { kind: 'http', method: 'GET', path: '/preview', headers: {}, body: null },
  ...{ use: 'real', before: null, after: 'data', token: null },
};

/** Records an intent of a tool about which people are asked, and returns its id. */
async function waitingFor(of: ToolDefinition): Promise<string> {
  const made = proposal({ tool: of.name, contractDigest: of.contractDigest, terms: of.terms });
  const question = { proposal: made, tool: of, policy: checks.policy, demands: [], alike: null, nonce: 'n1' };
  const request = newRequest({ ...question, expiresAt: Date.now() + 60_000 }, checks.seals);
  const ruling = { allow: 'approved', request } as const;
  await store.door.execute({ intentId: made.intentId, command: { type: 'record', proposal: made, ruling } });
  return made.intentId;
}

const events = async (id: string) => (await store.intents.history(id)).map(({ event }) => event);
const types = async (id: string) => (await events(id)).map((event) => event.type);
const find = async <T extends IntentEvent['type']>(id: string, type: T) =>
  (await events(id)).find((event): event is Extract<IntentEvent, { type: T }> => event.type === type);
const reaches = (id: string, state: string) =>
  vi.waitFor(async () => expect((await store.intents.load(id))?.state).toBe(state), { timeout: 10_000, interval: 20 });
const only = (ring: Ring) => ring.intents[0]?.id ?? '';

describe('an announced intent', () => {
  test('is sent once, however often and wherever it is announced', async () => {
    const ring = await ringFor(3);
    const replicas = [dispatcher(), dispatcher()];
    await Promise.all([...replicas, ...replicas].map((replica) => replica.take(ring)));
    for (const { id } of ring.intents) await reaches(id, 'committed');
    const late = ring.intents.map((intent) => ({ ...intent, version: intent.version + 2 }));
    await Promise.all(replicas.map((replica) => replica.take({ intents: late })));
    expect(server.requests).toHaveLength(3);
    for (const { id } of ring.intents) {
      expect(await types(id)).toEqual(['recorded', 'authorized', 'attempt_started', 'committed']);
    }
  });

  test('has its attempt in the log before the first byte, under the ids that the upstream sees', async () => {
    server.script({ at: 'request', then: 'hang' });
    const ring = await ringFor(1, tool, { args: { order: 'o1' }, injected: { user_id: 'ada' } });
    await dispatcher().take(ring);
    await server.seen(1);
    const attempt = await find(only(ring), 'attempt_started');
    const intent = await store.intents.load(only(ring));
    expect(server.requests[0]?.headers).toMatchObject({
      'x-attempt-id': attempt?.attemptId,
      'idempotency-key': intent?.proposal.key,
    });
    expect(JSON.parse(server.requests[0]?.body.text ?? '')).toEqual({ order: 'o1', user_id: 'ada' });
    server.resetConnections();
    await reaches(only(ring), 'unknown');
  });

  test('that does not exist, or has been decided otherwise, is passed by', async () => {
    const ring = await ringFor(1);
    await store.door.execute({ intentId: only(ring), command: { type: 'cancel', by: 'ada' } });
    const nobody = { id: '01J9Z3M5V6W7X8Y9Z0A1B2C3D4', version: 2, tool: tool.name, toolVersion: tool.version };
    await dispatcher().take({ intents: [...ring.intents, nobody] });
    expect(server.requests).toEqual([]);
  });
});

describe('nothing is sent', () => {
  const refusedWith = async (ring: Ring) => (await find(only(ring), 'attempt_not_executed'))?.cause;

  test('when this dispatcher does not have the tool, or not in that version: another one may', async () => {
    const ring = await ringFor(1);
    await dispatcher([toolAt(server.url, { tool: { name: 'another.tool' } })]).take(ring);
    await dispatcher([{ ...tool, version: tool.version + 1 }]).take(ring);
    expect(await store.intents.load(only(ring))).toMatchObject({ state: 'authorized', attempts: [] });
    expect(server.requests).toEqual([]);

    await dispatcher().take(ring);
    await reaches(only(ring), 'committed');
  });

  test('when the tool means something else now than at admission', async () => {
    const ring = await ringFor(1, tool, { contractDigest: 'f'.repeat(64) });
    await dispatcher().take(ring);
    await vi.waitFor(async () => expect(await refusedWith(ring)).toBe('tool_not_loaded'));
    expect(server.requests).toEqual([]);
  });

  test('when the lease would be over before the call', async () => {
    const ring = await ringFor(1, tool, { terms: { ...tool.terms, leaseMs: 5_000 } });
    await dispatcher().take(ring);
    await vi.waitFor(async () => expect(await refusedWith(ring)).toBe('lease_over'));
    expect(server.requests).toEqual([]);
  });
});

test('a slow tool holds up its own intents only, and goes on when a slot is free', async () => {
  const slow = toolAt(server.url, { limits: { concurrency: 1 }, tool: { name: 'slow.act' } });
  const quick = await MisbehavingServer.start();
  const other = toolAt(quick.url, { tool: { name: 'quick.act' } });
  server.script({ at: 'request', then: 'hang' });
  const both = dispatcher([slow, other]);
  const held = await ringFor(200, slow);
  const free = await ringFor(2, other);
  await both.take(held);
  await server.seen(1);
  // The announcement of the slow ones is dealt with, so it holds up nothing that is announced after it.
  await both.take(free);
  for (const { id } of free.intents) await reaches(id, 'committed');
  expect(server.requests).toHaveLength(1);
  server.resetConnections();
  await vi.waitFor(
    async () => {
      const states = await Promise.all(held.intents.map(async ({ id }) => (await store.intents.load(id))?.state));
      expect(states.filter((state) => state === 'committed')).toHaveLength(199);
      expect(states.filter((state) => state === 'unknown')).toHaveLength(1);
    },
    { timeout: 20_000, interval: 100 },
  );
  await quick.stop();
});

test('a preview that hangs holds up no announcement', async () => {
  const previewed = toolAt(server.url, {
    tool: { name: 'slow.preview', approval: { ...defaultApproval, required: true, preview } },
  });
  server.script({ at: 'request', then: 'hang' });
  const id = await waitingFor(previewed);
  const replica = dispatcher([previewed]);
  await replica.take({ intents: [{ id, version: 2, tool: previewed.name, toolVersion: previewed.version }] });
  await server.seen(1);
  expect((await store.intents.load(id))?.approvals?.requests).toMatchObject([{ preview: { kind: 'asked' } }]);
  server.resetConnections();
  await vi.waitFor(async () =>
    expect((await store.intents.load(id))?.approvals?.requests.at(-1)).toMatchObject({ preview: { kind: 'failed' } }),
  );
});

test('a full upstream holds up its own intents only, whichever of its tools they are of', async () => {
  const crm = { upstream: { name: 'crm', concurrency: 2 } };
  const [one, two] = ['crm.one', 'crm.two'].map((name) => toolAt(server.url, { ...crm, tool: { name } }));
  if (!one || !two) throw new Error('no tools');
  const quick = await MisbehavingServer.start();
  const other = toolAt(quick.url, { upstream: { name: 'mail' }, tool: { name: 'quick.act' } });
  server.script({ at: 'request', then: 'hang' }, { at: 'request', then: 'hang' });
  const made = dispatcher([one, two, other]);
  const rings = [await ringFor(20, one), await ringFor(20, two)];
  const free = await ringFor(3, other);
  await Promise.all(rings.map((ring) => made.take(ring)));
  await server.seen(2);
  await made.take(free);
  for (const { id } of free.intents) await reaches(id, 'committed');
  expect(server.requests).toHaveLength(2);
  server.resetConnections();
  const ids = rings.flatMap(({ intents }) => intents.map(({ id }) => id));
  await vi.waitFor(
    async () => {
      const states = await Promise.all(ids.map(async (id) => (await store.intents.load(id))?.state));
      expect(states.filter((state) => state === 'committed')).toHaveLength(38);
    },
    { timeout: 20_000, interval: 50 },
  );
  await quick.stop();
});

test('while the circuit of an upstream is open its intents wait, instead of starting attempts that are not sent', async () => {
  const reset = { at: 'request', then: 'reset' } as const;
  server.script(reset, reset);
  const crm = toolAt(server.url, { upstream: { name: 'crm', concurrency: 2 } });
  const made = dispatcher([crm], createLogger('spec', 'silent'), { breaker: { failures: 2, pauseMs: 400 } });
  const ring = await ringFor(40, crm);
  await made.take(ring);
  const refused = async () => {
    const causes = await Promise.all(
      ring.intents.map(async ({ id }) => (await find(id, 'attempt_not_executed'))?.cause),
    );
    return causes.filter((cause) => cause === 'circuit_open').length;
  };
  await vi.waitFor(
    async () => {
      const states = await Promise.all(ring.intents.map(async ({ id }) => (await store.intents.load(id))?.state));
      expect(states.filter((state) => state === 'unknown')).toHaveLength(2);
      // Those that were refused wait for their next announcement.
      expect(states.filter((state) => state === 'committed')).toHaveLength(38 - (await refused()));
    },
    { timeout: 20_000, interval: 50 },
  );
  const inVain = await refused();
  expect(inVain).toBeGreaterThan(0);
  expect(inVain).toBeLessThanOrEqual(4);
  expect(server.requests).toHaveLength(40 - inVain);
});

test('an intent that cannot be read does not bring its announcement back', async () => {
  const ring = await ringFor(2);
  const [strange, good] = ring.intents;
  await database.query("INSERT INTO events VALUES ($1, 3, 'teleported', '{}', 'of a later version', now())", [
    strange?.id,
  ]);
  await dispatcher().take(ring);
  await reaches(good?.id ?? '', 'committed');
  await database.query("DELETE FROM events WHERE type = 'teleported'");
});

describe('a cancel of what is on the wire', () => {
  const cancel = (id: string) => store.door.execute({ intentId: id, command: { type: 'cancel', by: 'ada' } });

  /** An attempt whose upstream took the request and says nothing. */
  async function hanging(): Promise<{ replica: Dispatcher; id: string }> {
    server.script({ at: 'request', then: 'hang' });
    const ring = await ringFor(1);
    const replica = dispatcher();
    await replica.take(ring);
    await server.seen(1);
    return { replica, id: only(ring) };
  }

  test('ends the connection at once and leaves open what happened', async () => {
    const { replica, id } = await hanging();
    await cancel(id);
    await replica.abortCancelled([id]);
    await reaches(id, 'unknown');
    expect(await find(id, 'outcome_unknown')).toMatchObject({ cause: 'aborted' });
    expect(await types(id)).toContain('cancel_requested');
  });

  test('is found in the log where the hint about it was lost', async () => {
    const { replica, id } = await hanging();
    await cancel(id);
    await vi.waitFor(async () => {
      await replica.abortCancelled();
      expect((await store.intents.load(id))?.state).toBe('unknown');
    }, 10_000);
  });

  test('that only a hint knows of aborts nothing: the log decides', async () => {
    const { replica, id } = await hanging();
    await replica.abortCancelled([id, '01J9Z3M5V6W7X8Y9Z0A1B2C3D4']);
    await replica.abortCancelled();
    expect((await store.intents.load(id))?.state).toBe('dispatching');
    server.resetConnections();
    await reaches(id, 'unknown');
    expect(await find(id, 'outcome_unknown')).toMatchObject({ cause: 'reset_after_send' });
  });
});

test('a sandbox that hangs holds up no real call: it has places of its own', async () => {
  const staging = await MisbehavingServer.start();
  const { upstream } = toolAt(server.url, { upstream: { name: 'pay', concurrency: 1 } });
  const both = toolAt(server.url, {
    tool: { sandbox: { ...upstream, name: 'pay (sandbox)', baseUrl: staging.url } },
    upstream: { name: 'pay', concurrency: 1 },
  });
  const replica = dispatcher([both]);
  staging.script({ at: 'request', then: 'hang' });
  const { intents } = await ringFor(1, both, { sandbox: true });
  await replica.take({ intents: intents.map((intent) => ({ ...intent, sandbox: true })) });
  await staging.seen(1);
  const real = await ringFor(1, both);
  await replica.take(real);
  await reaches(only(real), 'committed');
  staging.resetConnections();
  await reaches(intents[0]?.id ?? '', 'unknown');
  await staging.stop();
});

test('a cancel from before a replay does not abort the attempt that the replay allowed', async () => {
  const blind = toolAt(server.url, {
    tool: { name: 'blind.act', terms: { ...tool.terms, lookup: 'presence_only', settleMs: 0, deadlineMs: 0 } },
  });
  server.script({ at: 'request', then: 'reset' }, { at: 'request', then: 'hang' });
  const ring = await ringFor(1, blind, {
    terms: { ...blind.terms, guarantee: 'idempotency_key', retentionMs: 3_600_000 },
  });
  const id = only(ring);
  const replica = dispatcher([blind]);
  await replica.take(ring);
  await reaches(id, 'unknown');
  const execute = (command: Command) => store.door.execute({ intentId: id, command });
  const ask = async (answer: LookupAnswer) => execute({ type: 'record_lookup', answer, askedAt: Date.now() + 60_000 });
  await execute({ type: 'cancel', by: 'ada' });
  await ask({ kind: 'absent' });
  await reaches(id, 'dead_lettered');
  await execute({ type: 'replay', by: 'olga', reason: 'wanted after all' });
  await ask({ kind: 'absent' });
  const version = (await store.intents.load(id))?.version ?? 0;
  await replica.take({ intents: [{ id, version, tool: blind.name, toolVersion: blind.version }] });
  await server.seen(2);
  await replica.abortCancelled([id]);
  expect((await store.intents.load(id))?.state).toBe('dispatching');
  server.resetConnections();
  await vi.waitFor(async () => expect((await store.intents.load(id))?.state).toBe('unknown'));
  expect((await events(id)).findLast((event) => event.type === 'outcome_unknown')).toMatchObject({
    cause: 'reset_after_send',
  });
});

describe('stopping', () => {
  test('waits for what is on the wire and takes nothing new', async () => {
    server.script({ at: 'request', then: 'hang' });
    const stopped = dispatcher();
    const ring = await ringFor(1);
    await stopped.take(ring);
    await server.seen(1);
    let over = false;
    const stopping = stopped.stop().then(() => {
      over = true;
    });
    const left = await ringFor(1);
    await stopped.take(left);
    expect(await store.intents.load(only(left)), 'left to other replicas').toMatchObject({ state: 'authorized' });
    expect(over).toBe(false);
    server.resetConnections();
    await stopping;
    expect((await store.intents.load(only(ring)))?.state, 'the verdict is in the log').toBe('unknown');
    expect(server.requests).toHaveLength(1);
  });

  test('waits for an attempt that is being recorded, too, and for its request', async () => {
    const ring = await ringFor(1);
    const blocker = await database.session();
    onTestFinished(() => blocker.end());
    await blocker.query('BEGIN');
    await blocker.query('SELECT FROM intents WHERE id = $1 FOR UPDATE', [only(ring)]);
    const stopped = dispatcher();
    const taking = stopped.take(ring);
    await vi.waitFor(async () => {
      const waits = "application_name = 'dispatcher-spec' AND wait_event_type = 'Lock'";
      expect(await database.query(`SELECT FROM pg_stat_activity WHERE ${waits}`)).toHaveLength(1);
    });
    const stopping = stopped.stop();
    await blocker.query('ROLLBACK');
    await stopping;
    expect((await store.intents.load(only(ring)))?.state).toBe('committed');
    await taking;
  });
});

test('a verdict is offered until the database takes it', async () => {
  const upstream = await heldUpstream();
  const remote = toolAt(upstream.url);
  const logger = createLogger('spec', 'silent');
  const warned = new Promise((resolve) => {
    logger.warn = resolve as typeof logger.warn;
  });
  const ring = await ringFor(1, remote);
  await dispatcher([remote], logger).take(ring);
  await upstream.asked;
  const databaseName = new URL(database.url).pathname.slice(1);
  await database.query(`ALTER ROLE intendant_app IN DATABASE ${databaseName} SET default_transaction_read_only = on`);
  await database.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dispatcher-spec' AND datname = current_database()",
  );
  upstream.answer();
  await warned;
  expect((await store.intents.load(only(ring)))?.state).toBe('dispatching');
  await database.query(`ALTER ROLE intendant_app IN DATABASE ${databaseName} RESET default_transaction_read_only`);
  await reaches(only(ring), 'committed');
  expect(await types(only(ring))).toEqual(['recorded', 'authorized', 'attempt_started', 'committed']);
  await upstream.stop();
});

test('an upstream that answers 429 is asked again no earlier than it said', async () => {
  server.script({ at: 'request', send: response(429, '{}', { 'retry-after': '7' }), then: 'keep' });
  const ring = await ringFor(1);
  await dispatcher().take(ring);
  await vi.waitFor(async () => expect(await types(only(ring))).toContain('attempt_not_executed'));
  const intent = await store.intents.load(only(ring));
  const notBefore = intent?.state === 'authorized' ? (intent.notBefore ?? 0) : 0;
  expect(notBefore - (intent?.since ?? 0)).toBeGreaterThanOrEqual(7_000);
  const early = { intents: ring.intents.map((announced) => ({ ...announced, version: intent?.version ?? 0 })) };
  await dispatcher().take(early);
  expect(server.requests).toHaveLength(1);
});

/** An upstream that answers its request when the test says so. */
async function heldUpstream() {
  let answer = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const http = createServer(async (_, reply) => {
    http.emit('asked');
    await held;
    reply.setHeader('content-type', 'application/json').end('{"ok":true}');
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    asked: once(http, 'asked'),
    answer,
    stop: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}
