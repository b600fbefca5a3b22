import { type Budgets, noBudgets, Refusal, type Session, type ToolDefinition } from '@intendant/contracts';
import { ApprovalSeals } from '@intendant/credentials';
import type { Intent, Verdict } from '@intendant/intent';
import { parsePolicyFiles } from '@intendant/rules';
import { Store } from '@intendant/store';
import { createDatabase, type TestDatabase, toolAt } from '@intendant/testing';
import { createRegistry } from '@intendant/tools';
import fc from 'fast-check';
import { ulid } from 'ulid';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Admission } from './admission.js';
import { rulesOfFiles } from './rules-of-files.js';

const noRules = rulesOfFiles(parsePolicyFiles([], []));
let database: TestDatabase;
let stores: Store[];

beforeAll(async () => {
  database = await createDatabase();
  const names = ['limits-spec-1', 'limits-spec-2', 'limits-spec-3'];
  stores = await Promise.all(names.map((name) => Store.open({ url: database.url, name })));
});
afterEach(async () => {
  expect(await stores[0]?.verify()).toEqual([]);
});
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await database.drop();
});

const order = { type: 'object', required: ['order'], properties: { order: { type: 'string' } } };
const tool = (
  name: string,
  effect: 'read' | 'write' | 'destructive',
  more: Partial<ToolDefinition> = {},
  limits = {},
) => {
  const { terms } = toolAt('http://127.0.0.1:1');
  return toolAt('http://127.0.0.1:1', {
    tool: { name, effect, permission: 'all', input: order, terms: { ...terms, effect }, ...more },
    limits,
  });
};
const mock = toolAt('http://127.0.0.1:1').upstream;
const tools = createRegistry([
  tool('orders.get', 'read'),
  tool('orders.note', 'write'),
  tool('orders.refund', 'destructive', { sandbox: mock }),
  tool('orders.pay', 'destructive', { businessKey: { fields: ['/order'], windowMs: 60_000 }, sandbox: mock }),
  tool('orders.brief', 'write', { businessKey: { fields: ['/order'], windowMs: 1 } }),
  tool('orders.same', 'destructive', {
    businessKey: { fields: ['/order'], windowMs: 60_000 },
    similar: { fields: ['/order'], windowMs: 60_000, mode: 'shadow' },
  }),
  tool('orders.noted', 'write', { similar: { fields: ['/order'], windowMs: 60_000, mode: 'shadow' } }),
  tool('orders.slow', 'write', {}, { rate: { count: 5, perMs: 3_600_000 } }),
]);

async function openRun(budgets: Partial<Budgets> = {}, tenant = 'acme'): Promise<Session> {
  const run = {
    id: `run_${ulid()}`,
    tenant,
    user: 'ada',
    profile: 'batch',
    permissions: ['all'],
    phase: null,
  } as const;
  const opened = { ...run, openedBy: 'spec', budgets: { ...noBudgets, ...budgets } };
  const { expiresAt } = await (stores[0] as Store).runs.open(opened, 600_000);
  const { user, profile, permissions, phase } = run;
  return { tenant, runId: run.id, user, profile, permissions, phase, expiresAt };
}

const seals = new ApprovalSeals('approval-secret-of-this-spec-0123456789');
let next = 0;
/** A submit through one of three policies. */
async function submit(session: Session, name: string, order = `order ${next}`, more = {}): Promise<Intent> {
  next += 1;
  const message = { tool: name, args: { order }, stepId: `step_${next}`, ...more };
  const store = stores[next % stores.length] as Store;
  const payload = new TextEncoder().encode(JSON.stringify(message));
  const { intent } = await new Admission(store, tools, noRules, seals).admit(session, payload, {
    traceparent: null,
    answered: true,
  });
  return intent;
}
async function refusal(submitted: Promise<Intent>) {
  const outcome = await submitted.catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(Refusal);
  return (outcome as Refusal).error;
}

const byState = (intents: readonly Intent[]) => {
  const counts: Record<string, number> = {};
  for (const { state } of intents) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
};
const failureOf = (intent: Intent | undefined) => (intent?.state === 'denied' ? intent.failure : null);

/** What became of an intent, by the dispatcher's word. */
async function end(intent: Intent, verdict: Verdict): Promise<Intent> {
  const { intentId } = intent.proposal;
  const door = (stores[next % stores.length] as Store).door;
  await door.execute({ intentId, command: { type: 'start_attempt', attemptId: ulid() } });
  const started = await (stores[0] as Store).intents.load(intentId);
  const attemptId = started?.attempts.at(-1)?.attemptId ?? '';
  const result = await door.execute({ intentId, command: { type: 'record_verdict', attemptId, verdict, jitter: 0 } });
  return result.intent as Intent;
}
const executed = { kind: 'executed', data: {} } as const;
const unknown = { kind: 'unknown', cause: 'reset', detail: 'the answer was lost' } as const;
const refused = {
  kind: 'not_executed',
  cause: 'http_422',
  detail: 'no',
  transient: false,
  retryAfterMs: null,
} as const;
const unsent = { ...refused, sent: false } as const;

/** What the row of the run says is used, and what its intents hold. */
async function accounts(runId: string) {
  const [row] = await database.query<Record<string, number>>(
    `SELECT r.calls, r.mutating, r.destructive, r.cost::float8,
       (SELECT coalesce(sum(calls), 0)::int FROM intents WHERE run_id = r.id) AS held_calls,
       (SELECT count(*)::int FROM intents WHERE run_id = r.id AND held AND effect <> 'read' AND NOT sandbox) AS held_mutating,
       (SELECT count(*)::int FROM intents WHERE run_id = r.id AND held AND effect = 'destructive' AND NOT sandbox) AS held_destructive
     FROM runs AS r WHERE id = $1`,
    [runId],
  );
  return row as Record<
    'calls' | 'mutating' | 'destructive' | 'held_calls' | 'held_mutating' | 'held_destructive',
    number
  >;
}

describe('a budget', () => {
  test.each([
    ['calls', { calls: 8 }, 'orders.get'],
    ['mutating', { mutating: 8 }, 'orders.note'],
    ['destructive', { destructive: 8 }, 'orders.refund'],
  ])(
    'of %s lets exactly one of many pass that ask at once over three policies with one left (T8)',
    async (which, budgets, name) => {
      const session = await openRun(budgets);
      for (let i = 0; i < 7; i += 1) expect(await submit(session, name)).toMatchObject({ state: 'authorized' });
      const crowd = await Promise.all(Array.from({ length: 30 }, () => submit(session, name)));
      expect(byState(crowd)).toEqual({ authorized: 1, denied: 29 });
      const denied = crowd.find(({ state }) => state === 'denied');
      expect(failureOf(denied)).toMatchObject({
        code: 'budget_exhausted',
        details: { which, used: 8, limit: 8, rule: 'budget', wouldAllow: expect.stringContaining('a larger budget') },
      });
    },
  );

  test('of one kind is not used up by another', async () => {
    const session = await openRun({ destructive: 1, mutating: 2 });
    const all = [];
    for (const name of ['orders.refund', 'orders.note', 'orders.refund', 'orders.note', 'orders.get', 'orders.get']) {
      all.push((await submit(session, name)).state);
    }
    expect(all).toEqual(['authorized', 'authorized', 'denied', 'denied', 'authorized', 'authorized']);
  });

  test('of nothing allows nothing, and none at all allows everything', async () => {
    expect(await submit(await openRun({ calls: 0 }), 'orders.get')).toMatchObject({ state: 'denied' });
    expect(await submit(await openRun({ destructive: 0 }), 'orders.refund')).toMatchObject({ state: 'denied' });
    const free = await openRun();
    const many = await Promise.all(Array.from({ length: 60 }, () => submit(free, 'orders.refund')));
    expect(byState(many)).toEqual({ authorized: 60 });
  });

  test('is kept while the outcome is unknown, and given back once it is certain that nothing happened', async () => {
    const session = await openRun({ destructive: 1 });
    const first = await end(await submit(session, 'orders.refund'), unknown);
    expect(first.state).toBe('unknown');
    expect(failureOf(await submit(session, 'orders.refund'))).toMatchObject({ code: 'budget_exhausted' });
    const command = {
      type: 'resolve',
      by: 'olga',
      outcome: 'not_executed',
      externalId: null,
      evidence: 'seen',
    } as const;
    const { intentId } = first.proposal;
    await expect
      .poll(async () => (await (stores[1] as Store).door.execute({ intentId, command })).kind, { timeout: 5_000 })
      .toBe('accepted');
    expect(await submit(session, 'orders.refund')).toMatchObject({ state: 'authorized' });
    expect(await accounts(session.runId), 'counted anew').toMatchObject({ destructive: 1, held_destructive: 1 });
    expect(await submit(session, 'orders.refund')).toMatchObject({ state: 'denied' });
  });

  test('of calls counts each request that went out, and none that did not', async () => {
    const session = await openRun({ calls: 3 });
    expect(await end(await submit(session, 'orders.get'), refused)).toMatchObject({ state: 'failed' });
    expect(await end(await submit(session, 'orders.get'), unsent)).toMatchObject({ state: 'failed' });
    const again = await end(await submit(session, 'orders.get'), { ...refused, transient: true });
    expect(again).toMatchObject({ state: 'authorized' });
    const { intentId } = again.proposal;
    await expect
      .poll(
        () => (stores[0] as Store).door.execute({ intentId, command: { type: 'start_attempt', attemptId: ulid() } }),
        { timeout: 5_000 },
      )
      .toMatchObject({ kind: 'accepted' });
    expect(await accounts(session.runId)).toMatchObject({ held_calls: 3 });
    expect(await submit(session, 'orders.get'), 'the repetition has taken the last').toMatchObject({ state: 'denied' });
  });

  test('of time ends what may be proposed, not what may be read', async () => {
    const session = await openRun({ wallClockMs: 300 });
    const first = await submit(session, 'orders.get');
    const late = () => submit(session, 'orders.get');
    await expect.poll(async () => (await late()).state, { timeout: 5_000 }).toBe('denied');
    expect(failureOf(await late())).toMatchObject({
      code: 'budget_exhausted',
      details: { which: 'wallClock', limit: 0 },
    });
    expect(await stores[1]?.intents.load(first.proposal.intentId)).toMatchObject({ state: 'authorized' });
  });

  test('of time says nothing about what comes when the run is over: that is recorded, and expires', async () => {
    const run = {
      id: `run_${ulid()}`,
      tenant: 'acme',
      user: 'ada',
      profile: 'batch',
      permissions: ['all'],
      phase: null,
    } as const;
    const budgets = { ...noBudgets, wallClockMs: 200 };
    const { expiresAt } = await (stores[0] as Store).runs.open({ ...run, openedBy: 'spec', budgets }, 200);
    const session = { ...run, runId: run.id, expiresAt };
    await expect.poll(() => Date.now()).toBeGreaterThan(expiresAt);
    await expect.poll(async () => (await submit(session, 'orders.get')).state).toBe('authorized');
    const late = await submit(session, 'orders.get');
    const command = { type: 'start_attempt', attemptId: ulid() } as const;
    const { intentId } = late.proposal;
    expect(await (stores[0] as Store).door.execute({ intentId, command })).toMatchObject({
      intent: { state: 'expired' },
    });
  });

  test('is not touched by what is denied, repeated or done in a sandbox', async () => {
    const session = await openRun({ destructive: 1, calls: 4 });
    const sandboxed = await submit(session, 'orders.refund', 'o', { sandbox: true });
    expect(sandboxed).toMatchObject({ state: 'authorized' });
    const once = await submit(session, 'orders.refund', 'o', { stepId: 'once' });
    const again = await submit(session, 'orders.refund', 'o', { stepId: 'once' });
    expect(again.proposal.intentId).toBe(once.proposal.intentId);
    expect(await submit(session, 'orders.refund')).toMatchObject({ state: 'denied' });
    expect(await accounts(session.runId)).toMatchObject({ held_calls: 2, held_destructive: 1, held_mutating: 1 });
  });

  test('is never exceeded and never lost, whatever happens to intents over three policies', async () => {
    const step = fc.constantFrom('read', 'write', 'destroy', 'executed', 'unknown', 'refused', 'unsent', 'cancel');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const budgets = { calls: 6, mutating: 4, destructive: 2 };
        const session = await openRun(budgets);
        const open: Intent[] = [];
        const ended: Intent[] = [];
        for (const each of steps) {
          const name = { read: 'orders.get', write: 'orders.note', destroy: 'orders.refund' }[each as 'read'];
          if (name) {
            const intents = await Promise.all([submit(session, name), submit(session, name)]);
            open.push(...intents.filter(({ state }) => state === 'authorized'));
          } else {
            const intent = open.shift();
            if (!intent) continue;
            const { intentId } = intent.proposal;
            if (each === 'cancel') {
              await (stores[2] as Store).door.execute({ intentId, command: { type: 'cancel', by: 'ada' } });
            } else {
              ended.push(await end(intent, { executed, unknown, refused, unsent }[each as 'executed']));
            }
          }
          const now = await accounts(session.runId);
          expect(now.held_calls).toBeLessThanOrEqual(budgets.calls);
          expect(now.held_mutating).toBeLessThanOrEqual(budgets.mutating);
          expect(now.held_destructive).toBeLessThanOrEqual(budgets.destructive);
          expect(now.calls, 'the counter is never too small').toBeGreaterThanOrEqual(now.held_calls);
          expect(now.mutating).toBeGreaterThanOrEqual(now.held_mutating);
          expect(now.destructive).toBeGreaterThanOrEqual(now.held_destructive);
        }
        const may = ({ state }: Intent) => state === 'committed' || state === 'unknown';
        const effects = ended.filter((intent) => may(intent) && intent.proposal.terms.effect !== 'read').length;
        const waiting = open.filter((intent) => intent.proposal.terms.effect !== 'read').length;
        const { held_mutating } = await accounts(session.runId);
        expect(held_mutating, 'reserved is what may have happened and what still may').toBe(effects + waiting);
      }),
      { numRuns: 25 },
    );
  }, 60_000);
});

test('a run is denied a thousand calls and no more; what could be allowed still is', async () => {
  const session = await openRun({ destructive: 0 });
  await database.query('UPDATE runs SET denied = 998 WHERE id = $1', [session.runId]);
  const crowd = await Promise.allSettled(Array.from({ length: 12 }, () => submit(session, 'orders.refund')));
  expect(crowd.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  expect(await refusal(submit(session, 'orders.refund'))).toMatchObject({
    code: 'budget_exhausted',
    retryable: false,
    details: { which: 'denials', limit: 1_000 },
  });
  expect(await submit(session, 'orders.get')).toMatchObject({ state: 'authorized' });
});

test('the same step through several policies at once is one intent for all of them, whatever stands in its way', async () => {
  for (let round = 0; round < 25; round += 1) {
    const session = await openRun({ destructive: 1, calls: 1 }, 'same');
    const same = () => submit(session, 'orders.same', `o${round}`, { stepId: 'same' });
    const intents = await Promise.all(Array.from({ length: 9 }, same));
    expect(new Set(intents.map(({ proposal }) => proposal.intentId)).size).toBe(1);
    expect(intents[0]?.state).toBe('authorized');
  }
});

test('many in one run, over three policies, by what looks alike: all are answered', async () => {
  const session = await openRun({}, 'noted');
  const many = await Promise.all(Array.from({ length: 150 }, (_, i) => submit(session, 'orders.noted', `o${i % 7}`)));
  expect(byState(many)).toEqual({ authorized: 150 });
});

describe('a call of which nobody knows how it ended', () => {
  test('is not made again in its run under another step, whatever its tool says, until somebody knows', async () => {
    const session = await openRun({}, 'again');
    const first = await end(await submit(session, 'orders.refund', 'o1'), unknown);
    const { intentId } = first.proposal;
    const again = () => submit(session, 'orders.refund', 'o1', { stepId: 'again' });
    const crowd = await Promise.allSettled(Array.from({ length: 6 }, again));
    expect(crowd.every(({ status }) => status === 'rejected')).toBe(true);
    expect(await refusal(again())).toMatchObject({
      code: 'blocked_by_unknown',
      nextAction: 'check_outcome',
      message: expect.stringMatching(/not known/),
      details: { intentId, state: 'unknown', rule: 'causal_hold' },
    });
    expect(await submit(session, 'orders.refund', 'o2'), 'another call').toMatchObject({ state: 'authorized' });
    expect(await submit(session, 'orders.note', 'o1'), 'another tool').toMatchObject({ state: 'authorized' });
    expect(await submit(session, 'orders.refund', 'o1', { sandbox: true })).toMatchObject({ state: 'authorized' });
    expect(await submit(await openRun({}, 'again'), 'orders.refund', 'o1')).toMatchObject({ state: 'authorized' });
    const command = {
      type: 'resolve',
      by: 'olga',
      outcome: 'not_executed',
      externalId: null,
      evidence: 'seen',
    } as const;
    await expect
      .poll(async () => (await (stores[1] as Store).door.execute({ intentId, command })).kind, { timeout: 5_000 })
      .toBe('accepted');
    expect(await again(), 'the same step').toMatchObject({ state: 'authorized' });
  });

  test('holds up reads no more than anything else', async () => {
    const session = await openRun({}, 'reads');
    await end(await submit(session, 'orders.get', 'o1'), unknown);
    expect(await submit(session, 'orders.get', 'o1')).toMatchObject({ state: 'authorized' });
  });
});

describe('a rate', () => {
  test('is one for all policies (T14)', async () => {
    const session = await openRun({}, 'rated');
    const crowd = await Promise.allSettled(Array.from({ length: 40 }, () => submit(session, 'orders.slow')));
    expect(crowd.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    const other = await openRun({}, 'rated');
    expect(await refusal(submit(other, 'orders.slow'))).toMatchObject({ code: 'rate_limited', retryable: true });
    const elsewhere = await openRun({}, 'unrated');
    expect(await submit(elsewhere, 'orders.slow'), 'another tenant has its own').toMatchObject({ state: 'authorized' });
    expect(await submit(session, 'orders.note'), 'another tool has its own').toMatchObject({ state: 'authorized' });
  });

  test('says when there will be room: there is then, and is not before', async () => {
    const session = await openRun({}, 'quick');
    for (let i = 0; i < 5; i += 1) await submit(session, 'orders.slow');
    const ms = Number((await refusal(submit(session, 'orders.slow'))).details['retryAfterMs']);
    expect(ms).toBeGreaterThan(710_000);
    expect(ms).toBeLessThanOrEqual(720_000);
    // The bucket is made older instead of waiting for it.
    const later = (by: number) =>
      database.query("UPDATE rate_buckets SET at = at - $1 * interval '1 ms' WHERE id LIKE '%:quick:%'", [by]);
    await later(ms - 60_000);
    await refusal(submit(session, 'orders.slow'));
    await later(60_000);
    expect(await submit(session, 'orders.slow')).toMatchObject({ state: 'authorized' });
    await refusal(submit(session, 'orders.slow'));
  });

  test('is not used up by what is turned away, and what is turned away is not recorded', async () => {
    const session = await openRun({}, 'turned');
    const steps = Array.from({ length: 9 }, (_, i) => `same_${i}`);
    const outcomes = await Promise.allSettled(steps.map((stepId) => submit(session, 'orders.slow', 'o', { stepId })));
    const turned = steps.filter((_, i) => outcomes[i]?.status === 'rejected');
    expect(turned).toHaveLength(4);
    await database.query('UPDATE rate_buckets SET tokens = 5 WHERE id LIKE $1', ['%:turned:%']);
    for (const stepId of turned) {
      expect(await submit(session, 'orders.slow', 'o', { stepId }), 'the same step').toMatchObject({
        state: 'authorized',
      });
    }
  });
});

describe('a business operation', () => {
  test('is done once in a tenant, whichever run and policy it comes through', async () => {
    const sessions = await Promise.all([openRun({}, 'once'), openRun({}, 'once'), openRun({}, 'once')]);
    const crowd = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        submit(sessions[i % 3] as Session, 'orders.pay', 'o1').catch((e: Refusal) => e),
      ),
    );
    const admitted = crowd.filter((each) => !(each instanceof Refusal) && each.state === 'authorized') as Intent[];
    expect(admitted).toHaveLength(1);
    const { intentId, runId } = (admitted[0] as Intent).proposal;
    const other = sessions.find((each) => each.runId !== runId) as Session;
    const late = await submit(other, 'orders.pay', 'o1');
    expect(failureOf(late)).toMatchObject({
      code: 'duplicate_business_operation',
      message: expect.stringContaining(intentId),
      details: { intentId, state: 'authorized', rule: 'business_key' },
    });
    expect(await submit(sessions[1] as Session, 'orders.pay', 'o2')).toMatchObject({ state: 'authorized' });
    expect(await submit(await openRun({}, 'other'), 'orders.pay', 'o1')).toMatchObject({ state: 'authorized' });
    expect(await submit(sessions[1] as Session, 'orders.pay', 'o1', { sandbox: true })).toMatchObject({
      state: 'authorized',
    });
  });

  test('that failed, was cancelled or not sent may be asked for again; one that happened or may have, not', async () => {
    const [one, two] = await Promise.all([openRun({}, 'free'), openRun({}, 'free')]);
    for (const verdict of [refused, unsent]) {
      await end(await submit(one, 'orders.pay', 'o1'), verdict);
    }
    const cancelled = await submit(two, 'orders.pay', 'o1');
    await stores[0]?.door.execute({ intentId: cancelled.proposal.intentId, command: { type: 'cancel', by: 'ada' } });
    await end(await submit(one, 'orders.pay', 'o1'), executed);
    expect(failureOf(await submit(two, 'orders.pay', 'o1'))).toMatchObject({ details: { state: 'committed' } });
  });

  test('of unknown outcome holds up its own run, and is a duplicate elsewhere (S17)', async () => {
    const [one, two] = await Promise.all([openRun({}, 'held'), openRun({}, 'held')]);
    const first = await end(await submit(one, 'orders.pay', 'o1'), unknown);
    const { intentId } = first.proposal;
    const stepId = 'later';
    expect(await refusal(submit(one, 'orders.pay', 'o1', { stepId }))).toMatchObject({
      code: 'blocked_by_unknown',
      details: { intentId, state: 'unknown', rule: 'causal_hold' },
    });
    expect(failureOf(await submit(two, 'orders.pay', 'o1'))).toMatchObject({ details: { intentId, state: 'unknown' } });
    expect(await submit(one, 'orders.pay', 'o2'), 'unrelated').toMatchObject({ state: 'authorized' });
    const command = {
      type: 'resolve',
      by: 'olga',
      outcome: 'not_executed',
      externalId: null,
      evidence: 'seen',
    } as const;
    await expect
      .poll(async () => (await (stores[1] as Store).door.execute({ intentId, command })).kind, { timeout: 5_000 })
      .toBe('accepted');
    expect(await submit(one, 'orders.pay', 'o1', { stepId }), 'the same step').toMatchObject({ state: 'authorized' });
  });

  test('is open again when its time is over, and so for one of many', async () => {
    const session = await openRun({}, 'brief');
    await submit(session, 'orders.brief', 'o1');
    const again = () => submit(session, 'orders.brief', 'o1').catch((error: Refusal) => error);
    await expect.poll(async () => ((await again()) as Intent).state).toBe('authorized');
  });

  test('that turns out to have happened after all is taken again, unless somebody else has it', async () => {
    const session = await openRun({}, 'late');
    const failed = await end(await submit(session, 'orders.pay', 'o1'), refused);
    const { intentId } = failed.proposal;
    const attemptId = failed.attempts[0]?.attemptId ?? '';
    const verdict = { type: 'record_verdict', attemptId, verdict: executed, jitter: 0 } as const;
    const late = await (stores[1] as Store).door.execute({ intentId, command: verdict });
    expect(late.intent?.corrections).toHaveLength(1);
    expect(failureOf(await submit(session, 'orders.pay', 'o1'))).toMatchObject({ details: { intentId } });
  });
});
