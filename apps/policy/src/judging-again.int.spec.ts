import { renewed, verify } from '@intendant/approvals';
import { defaultApproval, type Session, type ToolDefinition } from '@intendant/contracts';
import { ApprovalSeals } from '@intendant/credentials';
import { type ApprovalRequest, type Intent, type JsonObject, newestOf } from '@intendant/intent';
import { parsePolicyFiles } from '@intendant/rules';
import { createLogger } from '@intendant/runtime';
import { Store } from '@intendant/store';
import { createDatabase, type TestDatabase, toolAt } from '@intendant/testing';
import { createRegistry } from '@intendant/tools';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Admission } from './admission.js';
import { JudgingAgain } from './judging-again.js';
import { rulesOfFiles } from './rules-of-files.js';
import type { WrittenRules } from './written-rules.js';

let database: TestDatabase;
let store: Store;
let other: Store;

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'judging-spec' });
  other = await Store.open({ url: database.url, name: 'judging-spec-2' });
});
afterAll(async () => {
  expect(await store.verify()).toEqual([]);
  await store.close();
  await other.close();
  await database.drop();
});

const tool = (name: string, more: Partial<ToolDefinition> = {}) =>
  toolAt('http://127.0.0.1:1', { tool: { name, permission: 'all', ...more } });
const refund = tool('pay.refund');
const tools = createRegistry([
  refund,
  tool('pay.asked', { approval: { ...defaultApproval, required: true } }),
  tool('mail.read'),
  tool('pay.alike', { similar: { fields: ['/to'], windowMs: 600_000, mode: 'approve' } }),
]);
const seals = new ApprovalSeals('approval-secret-of-this-spec-0123456789');
const logger = createLogger('judging-spec', 'silent');

function rules(...written: string[]): WrittenRules {
  const text = `apiVersion: intendant/policy/v1\nrules:\n${written.map((each) => `  - ${each}\n`).join('')}`;
  return rulesOfFiles(
    parsePolicyFiles(
      [{ file: 'all.policy.yaml', text }],
      tools.list().map(({ name }) => name),
    ),
  );
}
const over = (cents: number, then = 'require_approval') =>
  `{ name: large, tools: [pay.refund], when: args.cents > ${cents}, then: ${then}, message: Over ${cents} cents }`;
const before = rules(over(1_000));

async function openRun(): Promise<Session> {
  const run = {
    ...{ id: `run_${ulid()}`, tenant: 'acme', user: 'ada', profile: 'batch' as const, permissions: ['all'] },
    phase: null,
  };
  const { expiresAt } = await store.runs.open({ ...run, openedBy: 'spec' }, 600_000);
  return { ...run, runId: run.id, expiresAt };
}

async function submit(session: Session, name: string, args: JsonObject, by = before): Promise<Intent> {
  const payload = new TextEncoder().encode(JSON.stringify({ tool: name, args, stepId: ulid() }));
  const admission = new Admission(store, tools, by, seals);
  return (await admission.admit(session, payload, { traceparent: null, answered: true })).intent;
}

const olga = { name: 'olga', roles: ['approver'], groups: [] };
const load = async ({ proposal }: Intent) => (await store.intents.load(proposal.intentId)) as Intent;
const newest = (intent: Intent) => newestOf(intent.approvals as NonNullable<Intent['approvals']>);

async function approve(intent: Intent, of = newest(intent)) {
  const { intentId } = intent.proposal;
  return store.door.execute({ intentId, command: { type: 'approve', approver: olga, digest: of.digest } });
}

/** What a dispatcher with the files of `by` does with it. */
async function dispatch(seen: Intent, by: WrittenRules): Promise<Intent> {
  const intent = await load(seen);
  const { proposal, version } = intent;
  const approvals = intent.approvals as NonNullable<Intent['approvals']>;
  const of = tools.get(proposal.tool) as ToolDefinition;
  const verified = verify({ proposal, version, approvals }, { tool: of, policy: by.version, nonce: ulid() }, seals);
  const command = { type: 'start_attempt', attemptId: ulid(), verified } as const;
  return (await store.door.execute({ intentId: proposal.intentId, command })).intent as Intent;
}

/** Approved by the rules of before, and asked about anew by a dispatcher with those of `now`. */
async function askedAnew(session: Session, now: WrittenRules, name = 'pay.refund', args = { cents: 1_500 }) {
  const asked = await submit(session, name, args);
  expect(newest(asked)).toMatchObject({ policy: before.version, judged: before.version });
  await approve(asked);
  const anew = await dispatch(asked, now);
  expect(anew.state).toBe('awaiting_approval');
  expect(newest(anew)).toMatchObject({ policy: now.version, judged: before.version });
  return anew;
}

const judge = (now: WrittenRules, by = store) => new JudgingAgain(by, tools, now, seals, logger).runOnce();

describe('what people are asked about anew, since the policy files have changed', () => {
  test('is denied where they deny it now, and the failure names the rule', async () => {
    const now = rules(over(1_000, 'deny'));
    const anew = await askedAnew(await openRun(), now);
    expect(await approve(anew)).toMatchObject({ kind: 'rejected', reason: 'not_judged_yet' });
    await judge(now);
    expect(await load(anew)).toMatchObject({
      state: 'denied',
      failure: {
        code: 'rule_denied',
        message: expect.stringMatching(/^Over 1000 cents\. Nothing was sent\./),
        details: { rule: 'large' },
      },
    });
    const history = await store.intents.history(anew.proposal.intentId);
    expect(history.at(-1)?.event).toMatchObject({ reasons: { policy: now.version, rule: 'large' } });
  });

  test('is asked by what they say now, and goes once people have agreed to that', async () => {
    const now = rules(over(1_200));
    const anew = await askedAnew(await openRun(), now);
    await judge(now);
    const judged = await load(anew);
    expect(judged).toMatchObject({ state: 'awaiting_approval', approvals: { differs: ['the policy files'] } });
    const { digest: _, nonce: __, ...asked } = newest(judged);
    const { digest: ___, nonce: ____, ...earlier } = newest(anew);
    const demands = [{ rule: 'large', message: 'Over 1200 cents.' }];
    expect(asked).toEqual({ ...earlier, judged: now.version, demands });
    await approve(judged);
    expect(await dispatch(judged, now)).toMatchObject({ state: 'dispatching', attempt: { number: 1 } });
  });

  test('stays a question where they do not ask any more', async () => {
    const now = rules(over(5_000));
    const anew = await askedAnew(await openRun(), now);
    await judge(now);
    const judged = await load(anew);
    expect(newest(judged).demands.map(({ rule }) => rule)).toEqual(['asked_before']);
    await approve(judged);
    expect((await dispatch(judged, now)).state).toBe('dispatching');
  });

  test('keeps what its tool demands, and what it looked like', async () => {
    const now = rules(over(1_200));
    const session = await openRun();
    const asked = await askedAnew(session, now, 'pay.asked');
    await submit(session, 'pay.alike', { to: 'eve' });
    const alike = await submit(session, 'pay.alike', { to: 'eve' });
    await approve(alike);
    const anew = await dispatch(alike, now);
    await judge(now);
    expect(newest(await load(asked)).demands).toEqual(newest(asked).demands);
    expect(newest(await load(alike))).toMatchObject({ judged: now.version, demands: newest(anew).demands });
    expect(newest(anew).alike).not.toBeNull();
  });

  test('keeps its preview', async () => {
    const now = rules(over(1_200));
    const anew = await askedAnew(await openRun(), now);
    const preview = { kind: 'shown', before: 1, after: 2, token: 't', kept: 'not_kept' } as const;
    const { intentId } = anew.proposal;
    const circumstances = { proposal: anew.proposal, tool: refund, policy: now.version, nonce: ulid() };
    const shown = renewed(newest(anew), { ...circumstances, preview }, seals);
    const command = {
      type: 'judge_again',
      of: newest(anew).digest,
      ruling: { allow: 'approved', request: shown },
    } as const;
    await store.door.execute({ intentId, command });
    await judge(now);
    expect(newest(await load(anew))).toMatchObject({ judged: now.version, preview });
  });
});

describe('a rule that looks at what the run has done', () => {
  const past = (condition: string) =>
    rules(`{ name: past, tools: [pay.refund], when: ${JSON.stringify(condition)}, then: deny, message: Enough }`);

  test.each(['run.calls > 0', 'run.mutating > 0', 'run.history.size() > 0'])(
    'does not count the call itself: %s',
    async (condition) => {
      const now = past(condition);
      const alone = await askedAnew(await openRun(), now);
      const session = await openRun();
      await submit(session, 'mail.read', {});
      const second = await askedAnew(session, now);
      await judge(now);
      expect((await load(alone)).state).toBe('awaiting_approval');
      expect(newest(await load(alone)).judged).toBe(now.version);
      expect((await load(second)).state).toBe('denied');
    },
  );
});

describe('a service', () => {
  test('leaves alone what waits by other policy files or another tool file, and what is judged', async () => {
    const now = rules(over(1_000, 'deny'));
    const anew = await askedAnew(await openRun(), now);
    await judge(before);
    await judge(rules(over(1_100, 'deny')));
    const changed = createRegistry([{ ...refund, fileDigest: 'another' }]);
    await new JudgingAgain(store, changed, now, seals, logger).runOnce();
    expect((await load(anew)).version).toBe(anew.version);
    await judge(now);
    const { version } = await load(anew);
    await judge(now);
    expect((await load(anew)).version).toBe(version);
  });

  test('judges once beside another', async () => {
    const now = rules(over(1_300));
    const session = await openRun();
    const all = [];
    for (let cents = 1_501; cents <= 1_505; cents += 1) {
      const asked = await submit(session, 'pay.refund', { cents });
      await approve(asked);
      all.push(await dispatch(asked, now));
    }
    await Promise.all([judge(now), judge(now, other), judge(now), judge(now, other)]);
    for (const anew of all) expect((await load(anew)).version).toBe(anew.version + 1);
  });

  test('does not take requests of before that say nothing of it for ones that wait to be judged', async () => {
    const now = rules(over(1_300));
    const asked = await submit(await openRun(), 'pay.refund', { cents: 1_500 }, now);
    const { judged: _, ...request } = newest(asked) as Required<ApprovalRequest>;
    await database.query("UPDATE events SET data = $2 WHERE intent_id = $1 AND type = 'approval_requested'", [
      asked.proposal.intentId,
      JSON.stringify({ request, differs: ['the policy files'] }),
    ]);
    expect(await store.intents.unjudged(now.version, [refund.fileDigest], 10)).toEqual([]);
    expect(await approve(asked)).toMatchObject({ kind: 'accepted' });
    await store.verify();
  });
});
