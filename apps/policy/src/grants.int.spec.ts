import {
  defaultApproval,
  type Grant,
  noBudgets,
  Refusal,
  type Session,
  type ToolDefinition,
} from '@intendant/contracts';
import { ApprovalSeals, type OperatorIdentity } from '@intendant/credentials';
import type { Intent, Verdict } from '@intendant/intent';
import { parsePolicyFiles } from '@intendant/rules';
import { Store } from '@intendant/store';
import { createDatabase, type TestDatabase, toolAt } from '@intendant/testing';
import { createRegistry } from '@intendant/tools';
import { ulid } from 'ulid';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Admission } from './admission.js';
import { Granting } from './granting.js';
import { openingRulesOf, rulesOfFiles } from './rules-of-files.js';

const files = parsePolicyFiles(
  [
    {
      file: 'deployment.policy.yaml',
      text: [
        'apiVersion: intendant/policy/v1',
        'rules:',
        '  - name: large',
        '    tools: [bank.free]',
        '    when: args.cents > 100',
        '    then: require_approval',
        '    message: Large ones need a person',
      ].join('\n'),
    },
  ],
  ['bank.free'],
);
let database: TestDatabase;
let stores: Store[];
let store: Store;
beforeAll(async () => {
  database = await createDatabase();
  stores = await Promise.all(
    ['grants-1', 'grants-2', 'grants-3'].map((name) => Store.open({ url: database.url, name })),
  );
  store = stores[0] as Store;
});
/** A tenant of its own for each test, so that no grant is in the way of another. */
let tenant: string;
beforeEach(() => {
  tenant = ulid().toLowerCase();
});
afterEach(async () => {
  expect(await store.verify()).toEqual([]);
});
afterAll(async () => {
  await Promise.all(stores.map((each) => each.close()));
  await database.drop();
});

const input = {
  type: 'object',
  required: ['cents'],
  properties: { cents: { type: 'integer' }, to: { type: 'string' } },
};
const { terms, upstream } = toolAt('http://127.0.0.1:1');
const cost = 'args.cents / 100.0';
const tool = (name: string, approval: object = {}, more: Partial<ToolDefinition> = {}, limits: object = { cost }) =>
  toolAt('http://127.0.0.1:1', {
    tool: {
      ...{ name, effect: 'write', permission: 'all', input, terms: { ...terms, effect: 'write' }, sandbox: upstream },
      ...{ approval: { ...defaultApproval, required: true, ...approval }, ...more },
    },
    limits,
  });
const similar = { fields: ['/to'], windowMs: 60_000, mode: 'approve' } as const;
const tools = createRegistry([
  tool('bank.pay'),
  tool('bank.own', { selfApproval: true }),
  tool('bank.two', { quorum: 2 }),
  tool('bank.team', { groups: ['payments'] }),
  tool('bank.free', { required: false }, { sandbox: null }, {}),
  tool('bank.tainted', {}, { whenTainted: 'require_approval' }),
  tool('bank.alike', {}, { similar }),
]);
const stricter = createRegistry([
  tool('bank.pay', { groups: ['payments'] }),
  tool('bank.team', { quorum: 2, groups: ['payments'] }),
]);
const later = createRegistry([tool('bank.pay', {}, { version: 2 })]);

const pat: OperatorIdentity = { name: 'pat', tenant: '*', roles: ['approver'], groups: [] };
const max: OperatorIdentity = { ...pat, name: 'max', groups: ['payments'] };
const written = rulesOfFiles(files);
const names = tools.list().map(({ name }) => name);

function give(terms: object = {}, by = pat): Promise<Grant> {
  const granting = new Granting(store, tools, openingRulesOf(files, names).checkRestriction);
  const message = { tenant, tool: 'bank.pay', maxUses: 7, ttl: '1h', reason: 'spec', ...terms };
  return granting.give(by, JSON.parse(JSON.stringify(message)));
}
const refused = async (giving: Promise<Grant>) => {
  const outcome = await giving.catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(Refusal);
  return (outcome as Refusal).error;
};

async function openRun(over: Partial<Session> = {}): Promise<Session> {
  const run = {
    id: `run_${ulid()}`,
    tenant,
    user: 'ada',
    profile: 'batch',
    permissions: ['all'],
    phase: null,
    ...over,
  } as const;
  const { expiresAt } = await store.runs.open({ ...run, openedBy: 'spec', budgets: noBudgets }, 600_000);
  const { id: runId, user, profile, permissions, phase } = run;
  return { tenant, runId, user, profile, permissions, phase, expiresAt };
}

const seals = new ApprovalSeals('approval-secret-of-this-spec-0123456789');
let next = 0;
/** A submit through one of three policies. */
async function submit(session: Session, args: object = {}, more: object = {}, by = tools): Promise<Intent> {
  next += 1;
  const message = { tool: 'bank.pay', args: { cents: 100, to: `${next}`, ...args }, stepId: `step_${next}`, ...more };
  const admission = new Admission(stores[next % stores.length] as Store, by, written, seals);
  const payload = new TextEncoder().encode(JSON.stringify(message));
  return (await admission.admit(session, payload, { traceparent: null, answered: true })).intent;
}
const statesOf = (intents: readonly Intent[]) => {
  const counts: Record<string, number> = {};
  for (const { state } of intents) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
};
const many = <T>(count: number, make: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));

const start = ({ proposal: { intentId } }: Intent, more: object = {}) =>
  store.door.execute({ intentId, command: { type: 'start_attempt', attemptId: ulid(), ...more } });
/** What became of an intent, by the dispatcher's word. */
async function end(intent: Intent, verdict: Verdict): Promise<Intent | null> {
  const started = await start(intent);
  const attemptId = started.intent?.attempts.at(-1)?.attemptId ?? '';
  const command = { type: 'record_verdict', attemptId, verdict, jitter: 0 } as const;
  return (await store.door.execute({ intentId: intent.proposal.intentId, command })).intent;
}
const executed: Verdict = { kind: 'executed', data: {} };
const unknown: Verdict = { kind: 'unknown', cause: 'reset', detail: 'the answer was lost' };
const rejected: Verdict = {
  ...{ kind: 'not_executed', cause: 'http_422', detail: 'no' },
  ...{ transient: false, retryAfterMs: null },
};

describe('a grant', () => {
  test('lets exactly as many through as it is for, of many that ask at once over three policies', async () => {
    const grant = await give({ maxUses: 7 });
    const sessions = await many(4, () => openRun());
    const all = await many(40, (i) => submit(sessions[i % 4] as Session));
    expect(statesOf(all)).toEqual({ authorized: 7, awaiting_approval: 33 });
    for (const { state, proposal } of all) {
      expect(proposal.grant).toBe(state === 'authorized' ? grant.id : undefined);
    }
    expect(await store.grants.find(grant.id)).toMatchObject({ used: 7, spent: 7, left: { uses: 0, total: null } });
  });

  test('keeps to its total, to the cent', async () => {
    const grant = await give({ maxUses: 40, maxTotal: 1 });
    const session = await openRun();
    const all = await many(40, () => submit(session, { cents: 7 }));
    expect(statesOf(all)).toEqual({ authorized: 14, awaiting_approval: 26 });
    expect(await submit(session, { cents: 3 })).toMatchObject({ state: 'awaiting_approval' });
    expect(await submit(session, { cents: 2 })).toMatchObject({ state: 'authorized' });
    expect(await store.grants.find(grant.id)).toMatchObject({ used: 15, spent: 1, left: { uses: 25, total: 0 } });
  });

  test('gets back what provably did not happen, and not what may have', async () => {
    const grant = await give({ maxUses: 2, maxTotal: 10 });
    const session = await openRun();
    expect(await end(await submit(session, { cents: 500 }), rejected)).toMatchObject({ state: 'failed' });
    expect(await store.grants.find(grant.id)).toMatchObject({ used: 0, spent: 0 });
    expect(await end(await submit(session, { cents: 500 }), unknown)).toMatchObject({ state: 'unknown' });
    expect(await end(await submit(session, { cents: 500 }), executed)).toMatchObject({ state: 'committed' });
    expect(await submit(session, { cents: 1 })).toMatchObject({ state: 'awaiting_approval' });
    expect(await store.grants.find(grant.id)).toMatchObject({ used: 2, spent: 10, left: { uses: 0, total: 0 } });
  });

  test('is written into the decision, and a refusal of what comes of it can be remembered', async () => {
    const grant = await give();
    const intent = await submit(await openRun());
    expect(intent).toMatchObject({ state: 'authorized', approvals: null });
    expect(intent.proposal.gist).toBeDefined();
    const [, decision] = await store.intents.history(intent.proposal.intentId);
    const reasons = { rule: 'grant', inputs: { grant: grant.id, givenBy: 'pat', demandedBy: ['approval'] } };
    expect(decision?.event).toMatchObject({ type: 'authorized', reasons });
  });

  test('is for calls that its condition is true of, and one that cannot be evaluated is for none', async () => {
    await give({ when: 'args.cents <= 500 && args.to in ["shop", "bakery"]' });
    const session = await openRun();
    expect(await submit(session, { cents: 500, to: 'shop' })).toMatchObject({ state: 'authorized' });
    expect(await submit(session, { cents: 501, to: 'shop' })).toMatchObject({ state: 'awaiting_approval' });
    expect(await submit(session, { cents: 1, to: 'eve' })).toMatchObject({ state: 'awaiting_approval' });
    const other = await give({ tool: 'bank.own', when: 'args.nowhere == "x"' });
    expect(await submit(session, {}, { tool: 'bank.own' })).toMatchObject({ state: 'awaiting_approval' });
    expect(await store.grants.find(other.id)).toMatchObject({ used: 0 });
  });

  test('that is over first is used first, and the next one after it', async () => {
    const long = await give({ maxUses: 2, ttl: '2h' });
    const short = await give({ maxUses: 3, ttl: '1h' });
    const session = await openRun();
    const all = await many(10, () => submit(session));
    expect(statesOf(all)).toEqual({ authorized: 5, awaiting_approval: 5 });
    expect(await store.grants.find(short.id)).toMatchObject({ used: 3 });
    expect(await store.grants.find(long.id)).toMatchObject({ used: 2 });
    const [first] = all.filter(({ proposal }) => proposal.grant === short.id);
    expect(first?.proposal.grant).toBe(short.id);
  });

  test('of somebody is not for what they ask for themselves, unless the tool lets them', async () => {
    await give();
    await give({ tool: 'bank.own' });
    const own = await openRun({ user: 'Pat ' });
    expect(await submit(own)).toMatchObject({ state: 'awaiting_approval' });
    expect(await submit(own, {}, { tool: 'bank.own' })).toMatchObject({ state: 'authorized' });
  });

  test('for one user is for runs of that user', async () => {
    await give({ user: 'ada' });
    expect(await submit(await openRun())).toMatchObject({ state: 'authorized' });
    expect(await submit(await openRun({ user: 'eve' }))).toMatchObject({ state: 'awaiting_approval' });
  });

  test('is for one tenant, one tool in one version, and either real calls or those of the sandbox', async () => {
    await give({ sandbox: true });
    await give({ tool: 'bank.own' });
    const session = await openRun();
    expect(await submit(session)).toMatchObject({ state: 'awaiting_approval' });
    expect(await submit(session, {}, { sandbox: true })).toMatchObject({ state: 'authorized' });
    expect(await submit(session, {}, { tool: 'bank.own', sandbox: true })).toMatchObject({
      state: 'awaiting_approval',
    });
    await give();
    expect(await submit(session, {}, {}, later)).toMatchObject({ state: 'awaiting_approval' });
    expect(await submit(session)).toMatchObject({ state: 'authorized' });
    tenant = `other-${tenant}`;
    expect(await submit(await openRun())).toMatchObject({ state: 'awaiting_approval' });
  });

  test('is not for a tool that has come to ask for more than its giver was', async () => {
    await give();
    await give({ tool: 'bank.team' }, max);
    const session = await openRun();
    expect(await submit(session, {}, {}, stricter)).toMatchObject({ state: 'awaiting_approval' });
    expect(await submit(session, {}, { tool: 'bank.team' }, stricter)).toMatchObject({ state: 'awaiting_approval' });
    expect(await submit(session, {}, { tool: 'bank.team' })).toMatchObject({ state: 'authorized' });
  });

  test('covers what a policy file asks for, and not taint or a look-alike, which its giver cannot know of', async () => {
    for (const name of ['bank.free', 'bank.tainted', 'bank.alike']) await give({ tool: name });
    const session = await openRun();
    expect(await submit(session, { cents: 101 }, { tool: 'bank.free' })).toMatchObject({ state: 'authorized' });
    expect(await submit(session, { to: 'shop' }, { tool: 'bank.alike' })).toMatchObject({ state: 'authorized' });
    expect(await submit(session, { to: 'shop', cents: 2 }, { tool: 'bank.alike' })).toMatchObject({
      state: 'awaiting_approval',
    });
    expect(await submit(session, {}, { tool: 'bank.tainted' })).toMatchObject({ state: 'authorized' });
    await database.query("UPDATE runs SET tainted_by = 'an intent', revision = revision + 1 WHERE id = $1", [
      session.runId,
    ]);
    for (const each of stores) each.runs.forget(session.runId);
    expect(await submit(session, {}, { tool: 'bank.tainted' })).toMatchObject({ state: 'awaiting_approval' });
  });

  test('lets nothing through that is not asked about, and takes nothing where nobody would be asked', async () => {
    const grant = await give({ tool: 'bank.free' });
    const small = await submit(await openRun(), { cents: 1 }, { tool: 'bank.free' });
    expect(small.proposal.grant).toBeUndefined();
    expect(await store.grants.find(grant.id)).toMatchObject({ used: 0 });
  });
});

describe('a grant that is over', () => {
  const expire = (id: string) => database.query('UPDATE grants SET expires_at = clock_timestamp() WHERE id = $1', [id]);

  test('answers for nothing new', async () => {
    const grant = await give();
    const session = await openRun();
    expect(await submit(session)).toMatchObject({ state: 'authorized' });
    await expire(grant.id);
    expect(await submit(session)).toMatchObject({ state: 'awaiting_approval' });
    expect(await store.grants.find(grant.id)).toMatchObject({ inForce: false, revokedAt: null });
  });

  test.each(['revoked', 'expired'])('since it was %s starts no attempt of what it had let through', async (how) => {
    const grant = await give();
    const intent = await submit(await openRun());
    if (how === 'revoked') await stores[1]?.grants.revoke(grant.id, 'olga');
    else await expire(grant.id);
    expect(await start(intent)).toMatchObject({ kind: 'rejected', reason: 'not_verified' });
    expect(await start(intent, { phases: ['x'] })).toMatchObject({ kind: 'accepted', intent: { state: 'denied' } });
  });

  test('does not take back what may have been sent', async () => {
    const grant = await give();
    const session = await openRun();
    const [open, maybe] = [await submit(session), await submit(session)];
    await start(open);
    const transient: Verdict = { ...rejected, transient: true, retryAfterMs: 0 };
    const retried = await end(maybe, transient);
    expect(retried).toMatchObject({ state: 'authorized' });
    await store.grants.revoke(grant.id, 'olga');
    const attemptId = (await store.intents.load(open.proposal.intentId))?.attempts[0]?.attemptId ?? '';
    const command = { type: 'record_verdict', attemptId, verdict: executed, jitter: 0 } as const;
    const { intent } = await store.door.execute({ intentId: open.proposal.intentId, command });
    expect(intent).toMatchObject({ state: 'committed' });
    // What provably did not run the first time is begun anew, and that is over.
    await vi.waitFor(async () => expect(await start(maybe)).toMatchObject({ reason: 'not_verified' }), 5_000);
  });

  test('since it was revoked in a burst lets nothing start afterwards', async () => {
    const grant = await give({ maxUses: 1_000 });
    const session = await openRun();
    let revokedAt = Number.POSITIVE_INFINITY;
    const burst = many(60, async () => {
      const intent = await submit(session);
      const asked = performance.now();
      const result = await start(intent);
      return { late: asked >= revokedAt, started: result.intent?.state === 'dispatching' };
    });
    await submit(session);
    await stores[2]?.grants.revoke(grant.id, 'olga');
    revokedAt = performance.now();
    const all = await burst;
    expect(all.filter(({ late, started }) => late && started)).toEqual([]);
    const [row] = await database.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM events AS e JOIN intents AS i ON i.id = e.intent_id JOIN grants AS g ON g.id = i.grant_id
       WHERE g.id = $1 AND e.type = 'attempt_started' AND e.recorded_at > g.revoked_at + interval '1 second'`,
      [grant.id],
    );
    expect(row?.n).toBe(0);
    expect(await submit(session)).toMatchObject({ state: 'awaiting_approval' });
  });

  test('is not revived, nor moved to somebody else, by being revoked again', async () => {
    const { id } = await give();
    await store.grants.revoke(id, 'olga');
    const before = await store.grants.find(id);
    await store.grants.revoke(id, 'pat');
    expect(await store.grants.find(id)).toEqual(before);
    expect(before).toMatchObject({ revokedBy: 'olga', inForce: false });
  });
});

describe('a decision by a grant', () => {
  test('waits for whoever revokes it, and is made anew without it', async () => {
    const grant = await give();
    const session = await openRun();
    const meanwhile = await database.session();
    await meanwhile.query('BEGIN');
    await meanwhile.query('UPDATE grants SET revoked_at = clock_timestamp(), stamp = stamp + 1 WHERE id = $1', [
      grant.id,
    ]);
    const deciding = submit(session);
    await vi.waitFor(async () => {
      const waits = "datname = current_database() AND wait_event_type = 'Lock'";
      expect(await database.query(`SELECT FROM pg_stat_activity WHERE ${waits}`)).toHaveLength(1);
    });
    await meanwhile.query('COMMIT');
    await meanwhile.end();
    expect(await deciding).toMatchObject({ state: 'awaiting_approval' });
    expect(await store.grants.find(grant.id)).toMatchObject({ used: 0 });
  });

  test('does not wait in a circle with others by other grants', async () => {
    const grants = await Promise.all([give({ when: 'args.to == "a"' }), give({ when: 'args.to == "b"' })]);
    const sessions = await many(3, () => openRun());
    const before = await database.query('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()');
    const all = await many(60, (i) => submit(sessions[i % 3] as Session, { cents: i, to: i % 2 ? 'a' : 'b' }));
    expect(statesOf(all)).toEqual({ authorized: 14, awaiting_approval: 46 });
    for (const { id } of grants) expect(await store.grants.find(id)).toMatchObject({ used: 7 });
    expect(await database.query('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()')).toEqual(
      before,
    );
  });
});

describe('nothing is granted', () => {
  test.each<[string, object, string, RegExp]>([
    ['without an end', { ttl: undefined }, 'invalid_message', /^\/ttl: expected a duration .* at most P30D, got null/],
    ['for too long', { ttl: 'P31D' }, 'invalid_message', /^\/ttl: .* at most P30D, got "P31D"/],
    [
      'without a number of uses',
      { maxUses: undefined },
      'invalid_message',
      /^\/maxUses: expected a whole number from 1/,
    ],
    ['for no use', { maxUses: 0 }, 'invalid_message', /^\/maxUses: .* got 0/],
    ['without a reason', { reason: ' ' }, 'invalid_message', /^\/reason: expected text/],
    ['with a field of another name', { uses: 3 }, 'invalid_message', /^\/uses: expected no field of this name/],
    ['for a tool that is not there', { tool: 'bank.pya' }, 'unknown_tool', /no tool bank.pya. Did you mean bank.pay\?/],
    [
      'for a tool that needs more people',
      { tool: 'bank.two' },
      'invalid_arguments',
      /bank.two needs 2 people; one cannot agree for all/,
    ],
    [
      'for a condition that is not CEL',
      { when: 'args.cents <' },
      'invalid_arguments',
      /^\/when: expected CEL that can be used here/,
    ],
    ['for a condition that is none', { when: 'args.cents + 1' }, 'invalid_arguments', /is neither true nor false/],
    ['for a condition on what is not known', { when: 'run.calls < 3' }, 'invalid_arguments', /^\/when: expected CEL/],
    [
      'up to a total of what costs nothing',
      { tool: 'bank.free', maxTotal: 5 },
      'invalid_arguments',
      /bank.free says nothing of limits.cost/,
    ],
    [
      'up to a total in the sandbox',
      { sandbox: true, maxTotal: 5 },
      'invalid_arguments',
      /calls of the sandbox cost nothing/,
    ],
    [
      'for a sandbox that is not there',
      { tool: 'bank.free', sandbox: true },
      'invalid_arguments',
      /bank.free has no sandbox/,
    ],
    [
      'for a tool whose group the giver lacks',
      { tool: 'bank.team' },
      'forbidden',
      /bank.team needs the group payments beside approver; pat has approver/,
    ],
    [
      'for no tenant by whoever works for all',
      { tenant: undefined },
      'invalid_arguments',
      /pat works for all tenants: say for which one/,
    ],
  ])('%s', async (_, terms, code, message) => {
    const error = await refused(give(terms));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
    expect(error.message).toContain('Nothing was granted');
    expect(await store.grants.list({ tenant, tool: undefined, all: true, before: undefined, limit: 10 })).toEqual([]);
  });

  test('for another tenant', async () => {
    const error = await refused(give({ tenant: 'globex' }, { ...pat, tenant: 'acme' }));
    expect(error).toMatchObject({ code: 'forbidden', message: 'pat works for tenant acme, not globex.' });
  });

  test('beyond what is looked at for one tool', async () => {
    for (let i = 0; i < 100; i += 1) await give({ maxUses: 1 });
    expect(await refused(give())).toMatchObject({ code: 'conflict' });
    const [one] = await store.grants.list({ tenant, tool: 'bank.pay', all: false, before: undefined, limit: 1 });
    await store.grants.revoke(one?.id ?? '', 'olga');
    expect(await give()).toMatchObject({ inForce: true });
  });
});
