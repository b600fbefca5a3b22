import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bus, BusModule, Bus as BusToken, commitHints, connectBus, durables, NatsStrategy } from '@intendant/bus';
import { type ErrorObject, type IntentResult, type OpenedRun, subjects } from '@intendant/contracts';
import { parseOperatorKeys, parseServiceKeys, RunTokens } from '@intendant/credentials';
import { parsePolicyFiles } from '@intendant/rules';
import { createLogger, startService } from '@intendant/runtime';
import { Store, StoreModule } from '@intendant/store';
import { createDatabase, type NatsServer, startNats, type TestDatabase } from '@intendant/testing';
import { type INestApplication, Module } from '@nestjs/common';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { RunOpening } from './opening.js';
import { PolicyModule } from './policy.module.js';
import { openingRulesOf } from './rules-of-files.js';

const tokenSecret = 'a secret of the specs, longer than 32 bytes';
const digest = (key: string) => createHash('sha256').update(key).digest('hex');
const operators = parseOperatorKeys(
  `olga@acme:operator=${digest('olga')},vera@acme:viewer=${digest('vera')},root@*:admin+operator=${digest('root')}`,
);
const services = parseServiceKeys(`bot@acme=${digest('bot')},bot@umbrella=${digest('umbrella-bot')}`);
const toolFile = `
apiVersion: intendant/v1
name: mail.send
version: 1
description: Sends a mail.
effect: destructive
reversible: false
permission: mail:send
input: { type: object, required: [to], properties: { to: { type: string } }, additionalProperties: false }
output: { type: object, required: [message_id] }
limits: { connect: 1s, call: 2s }
upstream:
  http: { baseUrl: 'http://127.0.0.1:1', method: POST, path: /mails, body: $args }
  guarantee: lookup
  maxProcessing: 1s
  lookup:
    { method: GET, path: '/mails?reference={{key}}', present: $count(data) > 0, authoritative: true, lag: 0s, spacing: 1s, deadline: 5m }
`;
const inPhase = toolFile
  .replace('mail.send', 'mail.draft')
  .replace('permission: mail:send', 'permission: mail:draft\nphases: [resolve]');

@Module({})
class Application {}

const folder = mkdtempSync(join(tmpdir(), 'intendant-policy-'));
let database: TestDatabase;
let nats: NatsServer;
let app: INestApplication;
let store: Store;
let client: Bus;

async function serve(): Promise<void> {
  const imports = [
    BusModule.forRoot({ url: nats.url, name: 'policy' }),
    StoreModule.forRootAsync({
      inject: [BusToken],
      useFactory: (bus: Bus) => ({ url: database.url, name: 'policy-spec', committed: commitHints(bus) }),
    }),
    PolicyModule.forRoot(
      {
        toolsDir: folder,
        policyDir: null,
        tokenSecret,
        previousSecrets: [],
        approvalSecret: tokenSecret,
        previousApprovalSecrets: [],
        services,
        operators,
      },
      createLogger('policy', 'silent'),
    ),
  ];
  app = await startService({
    name: 'policy',
    module: { module: Application, imports },
    host: '127.0.0.1',
    port: 0,
    logger: createLogger('policy', 'silent'),
    prepare: (made) =>
      void made.connectMicroservice({ strategy: new NatsStrategy({ bus: made.get(BusToken), service: 'policy' }) }),
  });
  store = app.get(Store);
}

beforeAll(async () => {
  writeFileSync(join(folder, 'mail.send.tool.yaml'), toolFile);
  writeFileSync(join(folder, 'mail.draft.tool.yaml'), inPhase);
  [database, nats] = await Promise.all([createDatabase(), startNats()]);
  client = await connectBus({ url: nats.url, name: 'agent' });
  await serve();
});
afterAll(async () => {
  await client.close();
  await app.close();
  await nats.stop();
  await database.drop();
  rmSync(folder, { recursive: true });
});

/** A run of a tenant, and the token that its agent holds. */
async function openRun(tenant = 'acme', expiresInMs = 60_000) {
  const run = {
    id: `run_${ulid()}`,
    tenant,
    user: 'ada',
    profile: 'batch' as const,
    permissions: ['mail:*'],
    phase: null,
    openedBy: 'bot',
  };
  await store.runs.open(run, 60_000);
  const { id: runId, user, profile, permissions, phase } = run;
  const session = { tenant, runId, user, profile, permissions, phase, expiresAt: Date.now() + expiresInMs };
  return { runId, token: await new RunTokens(tokenSecret).issue(session) };
}
const message = (over = {}) => JSON.stringify({ tool: 'mail.send', args: { to: 'bob' }, stepId: 's1', ...over });

async function request(subject: string, credential: string | null, body: string, headers: Record<string, string> = {}) {
  const { data } = await client.request(subject, body, {
    headers: { ...(credential !== null && { Authorization: `Bearer ${credential}` }), ...headers },
    timeoutMs: 10_000,
  });
  return JSON.parse(new TextDecoder().decode(data)) as IntentResult & { error: ErrorObject | null };
}
const submit = (token: string | null, body = message(), headers = {}) =>
  request(subjects.rpcSubmit, token, body, headers);

let published = 0;
async function publish(token: string, body: string, tenant = 'acme', more: Record<string, string> = {}): Promise<void> {
  published += 1;
  const headers = { Authorization: `Bearer ${token}`, ...more };
  const { failed } = await client.publish([
    { subject: subjects.intents(tenant), payload: body, msgId: `submit ${published}`, headers },
  ]);
  expect(failed).toEqual([]);
}
const listed = (runId: string) => store.intents.list({ runId, limit: 10 });
const deadLetter = (code: string) =>
  vi.waitFor(async () => {
    const found = (await store.deadMessages.list({ limit: 10 })).find(({ error }) => error.code === code);
    if (!found) throw new Error(`no dead message says ${code}`);
    return found;
  }, 10_000);

describe('a submit that waits for its answer', () => {
  test('is answered once it is recorded; a second one from the first', async () => {
    const { runId, token } = await openRun();
    const first = await submit(token);
    expect(first).toMatchObject({ status: 'authorized', outcome: 'undecided', replayed: false, runId, error: null });
    expect(await submit(token)).toMatchObject({ intentId: first.intentId, replayed: true });
    expect(await listed(runId)).toHaveLength(1);
  });

  test('may wait for the outcome, and hears of it before it would poll', async () => {
    const { runId, token } = await openRun();
    const from = performance.now();
    const waiting = submit(token, message(), { 'Intendant-Wait': '20s' });
    const [row] = await vi.waitFor(async () => {
      const rows = await listed(runId);
      expect(rows).toHaveLength(1);
      return rows;
    });
    await store.door.execute({ intentId: row?.intentId ?? '', command: { type: 'cancel', by: 'ada' } });
    expect(await waiting).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' } });
    expect(performance.now() - from).toBeLessThan(900);
  });

  test('gets the present state when the wait is over', async () => {
    const { token } = await openRun();
    expect(await submit(token, message(), { 'Intendant-Wait': '50ms' })).toMatchObject({ status: 'authorized' });
  });

  test.each([
    ['no token', null, {}, 'unauthenticated'],
    ['a token that is none', 'nonsense', {}, 'unauthenticated'],
    ['a wait that is none', 'nonsense', { 'Intendant-Wait': 'soon' }, 'invalid_message'],
  ])('with %s is refused', async (_, token, headers, code) => {
    expect((await submit(token, message(), headers)).error?.code).toBe(code);
  });

  test('keeps a trace context, and only that', async () => {
    const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const traceOf = async (traceparent: string) => {
      const { token } = await openRun();
      const { intentId } = await submit(token, message(), { traceparent });
      return (await store.intents.load(intentId))?.proposal.traceparent;
    };
    expect(await traceOf(trace)).toBe(trace);
    expect(await traceOf('mallory was here')).toBeNull();
  });
});

describe('a submit without an answer', () => {
  test('is admitted once, however often it is delivered', async () => {
    const { runId, token } = await openRun();
    await Promise.all([publish(token, message()), publish(token, message())]);
    await vi.waitFor(async () => expect(await listed(runId)).toHaveLength(1), 10_000);
    await vi.waitFor(async () => expect(await client.backlog(durables.admission)).toBe(0));
    expect(await listed(runId)).toHaveLength(1);
  });

  test('that cannot be read becomes a dead message that operators may read; replayed, it is refused as before', async () => {
    const { runId, token } = await openRun();
    await publish(token, 'not JSON');
    const dead = await deadLetter('invalid_message');
    expect(dead).toMatchObject({ subject: 'intendant.intents.acme', session: { runId, tenant: 'acme' } });
    expect(new TextDecoder().decode((await store.deadMessages.find(dead.id))?.payload)).toBe('not JSON');
    expect(JSON.stringify(dead)).not.toContain(token);

    const replay = (key: string) => request(subjects.rpcReplayMessage, key, JSON.stringify({ id: dead.id }));
    expect((await replay('vera')).error?.code).toBe('forbidden');
    expect((await replay('nobody')).error?.code).toBe('unauthenticated');
    expect((await replay('olga')).error?.code, 'it is as unreadable as before').toBe('invalid_message');
    expect(await store.deadMessages.find(dead.id)).toMatchObject({ intentId: null });
  });

  test('that waited for longer than its token lives is judged by when it was sent', async () => {
    const { runId, token } = await openRun('acme', 1_500);
    await app.close();
    await publish(token, message());
    await vi.waitFor(() => expect(new RunTokens(tokenSecret).verify(token)).rejects.toThrow('has expired'), 5_000);
    await serve();
    await vi.waitFor(async () => expect(await listed(runId)).toHaveLength(1), 10_000);
  });

  test('from nobody known is kept but cannot be replayed', async () => {
    await publish('nonsense', message());
    const dead = await deadLetter('unauthenticated');
    expect(dead.session).toBeNull();
    const replay = (key: string) => request(subjects.rpcReplayMessage, key, JSON.stringify({ id: dead.id }));
    expect((await replay('olga')).error?.code).toBe('conflict');
    expect((await replay('root')).error?.code).toBe('conflict');
  });

  test("on another tenant's subject is not admitted", async () => {
    const { runId, token } = await openRun();
    await publish(token, message(), 'umbrella');
    const kept = await vi.waitFor(async () => {
      const found = (await store.deadMessages.list({ limit: 10 })).find(({ session }) => session?.runId === runId);
      expect(found).toBeDefined();
      return found;
    });
    expect(kept?.error.message).toContain('publish to intendant.intents.acme');
    expect(await listed(runId)).toEqual([]);
    const replayed = await request(subjects.rpcReplayMessage, 'olga', JSON.stringify({ id: kept?.id }));
    expect(replayed).toMatchObject({ status: 'authorized', runId });
    expect(await store.deadMessages.find(kept?.id ?? '')).toMatchObject({ intentId: replayed.intentId });
  });
});

describe('a step beside a message', () => {
  const plain = JSON.stringify({ tool: 'mail.send', args: { to: 'bob' } });
  const beside = { 'Intendant-Step': 's9' };
  const deadOf = (run: string) =>
    vi.waitFor(async () => {
      const found = (await store.deadMessages.list({ limit: 20 })).find(({ session }) => session?.runId === run);
      if (!found) throw new Error(`no dead message of ${run}`);
      return found;
    }, 10_000);
  const replay = (id: string) => request(subjects.rpcReplayMessage, 'olga', JSON.stringify({ id }));

  test('is its identity whether it is published or requested, beside it or in it', async () => {
    const { runId, token } = await openRun();
    await publish(token, plain, 'acme', beside);
    await vi.waitFor(async () => expect(await listed(runId)).toMatchObject([{ stepId: 's9' }]), 10_000);
    expect(await submit(token, plain, beside)).toMatchObject({ stepId: 's9', replayed: true });
    expect(await submit(token, message({ stepId: 's9' }), beside)).toMatchObject({ stepId: 's9', replayed: true });
    expect(await submit(token, message({ stepId: 's9' }))).toMatchObject({ stepId: 's9', replayed: true });
    expect(await listed(runId)).toHaveLength(1);
  });

  test.each([
    ['is another than that in it', message()],
    ['is none', plain, 'two words'],
    ['is none and has what no text can hold', plain, `s\0${'9'.repeat(1_000)}`],
  ])('that %s is refused in every way of submitting', async (_, body, step = 's9') => {
    const { runId, token } = await openRun();
    const headers = { 'Intendant-Step': step };
    expect((await submit(token, body, headers)).error).toMatchObject({ code: 'invalid_message' });
    await publish(token, body, 'acme', headers);
    const dead = await deadOf(runId);
    expect(dead.error.code).toBe('invalid_message');
    expect((await replay(dead.id)).error).toMatchObject({ code: 'invalid_message' });
    expect(await listed(runId)).toEqual([]);
  });

  test('is kept with a dead message and is its identity when it is replayed', async () => {
    const { runId, token } = await openRun();
    // Dead for where it was published; good as such.
    await publish(token, plain, 'umbrella', beside);
    await publish(token, plain, 'umbrella', { 'Intendant-Step': 's10' });
    const messages = await vi.waitFor(async () => {
      const found = (await store.deadMessages.list({ limit: 20 })).filter(({ session }) => session?.runId === runId);
      expect(found.map(({ stepId }) => stepId).sort()).toEqual(['s10', 's9']);
      return found;
    }, 10_000);
    for (const { id, stepId } of messages) expect(await replay(id)).toMatchObject({ status: 'authorized', stepId });
    expect(await submit(token, plain, beside)).toMatchObject({ stepId: 's9', replayed: true });
    expect(await listed(runId)).toHaveLength(2);
  });
});

test('the list of tools shows what the run may call', async () => {
  const { token } = await openRun();
  const ask = async (query: object) =>
    (await request(subjects.rpcTools, token, JSON.stringify(query))) as unknown as { tools: { name: string }[] };
  expect((await ask({})).tools.map(({ name }) => name)).toEqual(['mail.send']);
  expect((await ask({ query: 'SENDS' })).tools).toHaveLength(1);
  expect((await ask({ query: 'sends mail' })).tools).toHaveLength(1);
  expect((await ask({ namespace: 'mai' })).tools).toEqual([]);
});

test('the list of tools is that of the run as it is now: its phase and permissions from its row, nothing once it is closed', async () => {
  const { runId, token } = await openRun();
  const ask = () =>
    request(subjects.rpcTools, token, '{}') as unknown as Promise<{ tools?: { name: string }[]; error?: ErrorObject }>;
  const names = async () => (await ask()).tools?.map(({ name }) => name);
  expect(await names()).toEqual(['mail.send']);
  await store.runs.enter(runId, 'acme', 'resolve');
  expect(await names()).toEqual(['mail.draft', 'mail.send']);
  await store.runs.enter(runId, 'acme', 'verify');
  expect(await names()).toEqual(['mail.send']);
  await database.query("UPDATE runs SET permissions = '{mail:draft}', phase = 'resolve' WHERE id = $1", [runId]);
  expect(await names()).toEqual(['mail.draft']);
  await store.runs.close(runId, 'acme');
  expect((await ask()).error).toMatchObject({ code: 'run_closed', nextAction: 'stop' });
});

test('the list of tools of a run that is nowhere, or of another tenant, is refused', async () => {
  const { runId } = await openRun('umbrella');
  const session = { tenant: 'acme', user: 'ada', profile: 'batch', permissions: ['*'], phase: null } as const;
  const expiresAt = Date.now() + 60_000;
  for (const each of [runId, `run_${ulid()}`]) {
    const token = await new RunTokens(tokenSecret).issue({ ...session, runId: each, expiresAt });
    expect((await request(subjects.rpcTools, token, '{}')).error?.code).toBe('unauthenticated');
  }
});

describe('opening a run', () => {
  const good = { user: 'ada', permissions: ['mail:*'], profile: 'interactive' };
  type Answer = OpenedRun & { error?: ErrorObject };
  const open = (over: object | string = {}, key: string | null = 'bot') =>
    request(
      subjects.rpcOpenRun,
      key,
      typeof over === 'string' ? over : JSON.stringify({ ...good, ...over }),
    ) as unknown as Promise<Answer>;
  const runs = async () => Number((await database.query<{ n: string }>('SELECT count(*) AS n FROM runs'))[0]?.n);

  test('gives a token that says on whose behalf the run acts, for as long as it lives, and the limits it has', async () => {
    const { runId, token, expiresAt, budgets } = await open({ phase: 'resolve', ttl: 'PT30M' });
    expect(budgets).toEqual({ calls: 20, mutating: 1_000, destructive: 1, cost: null, wallClockSeconds: 120 });
    expect(await new RunTokens(tokenSecret).verify(token)).toEqual({
      ...{ tenant: 'acme', runId, user: 'ada', permissions: ['mail:*'], phase: 'resolve', profile: 'interactive' },
      expiresAt: Math.floor(Date.parse(expiresAt) / 1_000) * 1_000,
    });
    const run = await store.runs.find(runId);
    expect(run).toMatchObject({
      ...{ tenant: 'acme', user: 'ada', openedBy: 'bot', phase: 'resolve', sandbox: false, restrictions: [] },
      budgets: { calls: 20, mutating: 1_000, destructive: 1, costMicros: null },
    });
    expect((run?.expiresAt ?? 0) - (run?.openedAt ?? 0)).toBe(1_800_000);
    expect((run?.actsUntil ?? 0) - (run?.openedAt ?? 0)).toBe(120_000);
    expect(Date.parse(expiresAt)).toBe(run?.expiresAt);
  });

  test('gives what is asked for, within the ceiling of the key', async () => {
    const budgets = { calls: 1_000, mutating: 5, destructive: 0, cost: 2.5, wallClock: '2h' };
    const opened = await open({ budgets, sandbox: true });
    const { wallClock: _, ...rest } = budgets;
    expect(opened.budgets).toEqual({ ...rest, wallClockSeconds: 7_200 });
    expect(await store.runs.find(opened.runId)).toMatchObject({
      sandbox: true,
      budgets: { calls: 1_000, mutating: 5, destructive: 0, costMicros: 2_500_000 },
    });
    expect(await new RunTokens(tokenSecret).verify(opened.token)).toMatchObject({ sandbox: true });
  });

  test.each([
    ['more calls than the ceiling', { budgets: { calls: 1_001 } }, 'invalid_arguments', '/budgets/calls'],
    ['more time than the ttl', { ttl: '1h', budgets: { wallClock: '2h' } }, 'invalid_arguments', '/budgets/wallClock'],
    ['a limit that is none', { budgets: { calls: -1 } }, 'invalid_message', '/budgets/calls'],
    ['no user', { user: null }, 'invalid_message', '/user'],
    [
      'a restriction that is no expression',
      { restrict: [{ tools: ['mail.send'], allow: 'args.to ==', message: 'x' }] },
      'invalid_arguments',
      '/restrict/0/allow',
    ],
  ])('with %s is refused, and nothing is opened', async (_, over, code, pointer) => {
    const before = await runs();
    const { error } = await open(over);
    expect(error).toMatchObject({ code, details: { problems: [{ pointer }] } });
    expect(error?.message).toMatch(/No run was opened\.$/);
    expect(await runs()).toBe(before);
  });

  test('with a message that cannot be read is refused', async () => {
    for (const body of ['', 'x', '[]', '"x"']) expect((await open(body)).error?.code).toBe('invalid_message');
  });

  test('is for service keys only, and for the tenant of the key', async () => {
    const before = await runs();
    const { token } = await openRun();
    for (const key of [null, 'wrong', 'olga', 'root', token]) {
      expect((await open({}, key)).error).toMatchObject({ code: 'unauthenticated' });
    }
    expect(await runs()).toBe(before + 1);
    const { runId } = await open({}, 'umbrella-bot');
    expect(await store.runs.find(runId)).toMatchObject({ tenant: 'umbrella', openedBy: 'bot' });
  });

  test('goes by the rules that it was given', async () => {
    const ceiling = {
      ...openingRulesOf(parsePolicyFiles([], []), ['mail.send']).ceilingOf({ name: 'bot', tenant: 'acme' }),
      calls: 3,
      permissions: ['mail:send'],
    };
    const rules = {
      ceilingOf: ({ name }: { name: string }) => (name === 'bot' ? ceiling : { ...ceiling, permissions: [] }),
      checkRestriction: ({ allow }: { allow: string }) =>
        allow === 'true' ? null : { field: 'allow', expected: 'only true will do' },
    };
    const opening = new RunOpening(store, new RunTokens(tokenSecret), rules);
    const by = (name: string, over: object) =>
      opening.open({ name, tenant: 'acme' }, new TextEncoder().encode(JSON.stringify({ ...good, ...over })));
    const restrict = [{ tools: ['mail.*'], allow: 'true', message: 'Anything.' }];
    const { runId, budgets } = await by('bot', { permissions: ['mail:send'], restrict });
    expect(budgets.calls).toBe(3);
    expect(await store.runs.find(runId)).toMatchObject({ restrictions: restrict });
    await expect(by('bot', { permissions: ['mail:*'] })).rejects.toThrow(/^\/permissions\/0: .*mail:send/);
    await expect(by('other', { permissions: ['mail:send'] })).rejects.toThrow(/^\/permissions\/0: /);
    const wrong = [{ ...restrict[0], allow: 'false' }];
    await expect(by('bot', { permissions: ['mail:send'], restrict: wrong })).rejects.toThrow(/only true will do/);
  });
});

test('a change of meaning under the same version is refused at start', async () => {
  const { loadRegistry } = await import('./load-registry.js');
  await loadRegistry(store, folder);
  writeFileSync(
    join(folder, 'mail.send.tool.yaml'),
    toolFile.replace('{ type: string }', '{ type: string, maxLength: 3 }'),
  );
  await expect(loadRegistry(store, folder)).rejects.toThrow(/mail\.send\.tool\.yaml: .*version/s);
  writeFileSync(join(folder, 'mail.send.tool.yaml'), toolFile);
});
