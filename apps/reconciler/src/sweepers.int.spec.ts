import type { ToolDefinition } from '@intendant/contracts';
import type { IntentEvent, Proposal, Verdict } from '@intendant/intent';
import { createLogger } from '@intendant/runtime';
import { Store } from '@intendant/store';
import { createDatabase, MisbehavingServer, proposal, response, type TestDatabase, toolAt } from '@intendant/testing';
import { createRegistry } from '@intendant/tools';
import { Upstreams } from '@intendant/upstream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { AnnounceAgain } from './announce-again.js';
import { AskUpstream } from './ask-upstream.js';
import { assemble } from './assemble.js';
import { Expire } from './expire.js';
import { Questions } from './questions.js';
import { Reconciler } from './reconciler.js';
import { RescueStuck } from './rescue-stuck.js';
import type { Sweeper } from './sweeper.js';

const logger = createLogger('spec', 'silent');
const lost: Verdict = { kind: 'unknown', cause: 'http_502', detail: 'bad gateway' };
let receipts = 0;
/** Each time another receipt: the same one for two intents would prove nothing. */
const found = () => {
  receipts += 1;
  return { at: 'request', send: response(200, `[{"id":"re_${receipts}"}]`), then: 'keep' } as const;
};
const nothing = { at: 'request', send: response(200, '[]'), then: 'keep' } as const;

let database: TestDatabase;
let store: Store;
let server: MisbehavingServer;
let tool: ToolDefinition;
let upstream: Upstreams;

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'reconciler-spec' });
});
afterAll(async () => {
  expect(await store.verify()).toEqual([]);
  await store.close();
  await database.drop();
});
beforeEach(async () => {
  await database.query('DELETE FROM lookup_receipts');
  receipts = 0;
  await database.query("UPDATE intents SET wake_at = now() + interval '1 day' WHERE wake_at IS NOT NULL");
  server = await MisbehavingServer.start();
  tool = toolAt(server.url);
  upstream = new Upstreams(() => null);
});
afterEach(async () => {
  await upstream.close();
  await server.stop();
});

/** Terms under which everything that has to pass has passed when the sweeper looks. */
const terms = (over: Partial<Proposal['terms']> = {}) => ({
  ...tool.terms,
  settleMs: 0,
  spacingMs: 0,
  backoffMs: 1,
  ...over,
});

async function intentWith(verdict: Verdict | 'authorized' | 'dispatching', over: Partial<Proposal> = {}) {
  const made = proposal({ tool: tool.name, contractDigest: tool.contractDigest, terms: terms(), ...over });
  const { intentId } = made;
  const { door } = store;
  await door.execute({ intentId, command: { type: 'record', proposal: made, ruling: { allow: true } } });
  if (verdict === 'authorized') return intentId;
  const attemptId = `attempt of ${intentId}`;
  await door.execute({ intentId, command: { type: 'start_attempt', attemptId } });
  if (verdict !== 'dispatching') {
    await door.execute({ intentId, command: { type: 'record_verdict', attemptId, verdict, jitter: 0 } });
  }
  await dueNow([intentId]);
  return intentId;
}

const dueNow = (ids: readonly string[]) =>
  database.query("UPDATE intents SET wake_at = now() - interval '1 second' WHERE id = ANY ($1)", [ids]);
const ask = (state: 'unknown' | 'accepted' | 'committed' = 'unknown', from = store) =>
  new AskUpstream(state, from, new Questions(createRegistry([tool]), upstream), logger);
const state = async (id: string) => (await store.intents.load(id))?.state;
const types = async (id: string): Promise<IntentEvent['type'][]> =>
  (await store.intents.history(id)).map(({ event }) => event.type);
const last = async (id: string) => (await store.intents.history(id)).at(-1)?.event;

describe('settling what is unknown', () => {
  test('commits what the lookup finds, with the receipt', async () => {
    const id = await intentWith(lost);
    server.script(found());
    expect(await ask().runOnce(10)).toEqual({ found: 1, changed: 1, failed: 0 });
    expect(await last(id)).toEqual({ type: 'committed', proof: 'lookup', attempt: 1, data: { id: 're_1' } });
    const intent = await store.intents.load(id);
    expect(server.requests).toMatchObject([{ method: 'GET', path: `/acts?key=${intent?.proposal.key}` }]);
  });

  test('allows another attempt after the second absence, not after the first', async () => {
    const id = await intentWith(lost);
    server.script(nothing, nothing);
    expect(await ask().runOnce(10)).toEqual({ found: 1, changed: 0, failed: 0 });
    expect(await state(id)).toBe('unknown');
    await dueNow([id]);
    expect(await ask().runOnce(10)).toEqual({ found: 1, changed: 1, failed: 0 });
    expect(await last(id)).toMatchObject({ type: 'authorized', basis: 'absent' });
  });

  test('takes an absence before the settle time for nothing', async () => {
    const id = await intentWith(lost, { terms: terms({ settleMs: 60_000 }) });
    server.script(nothing, nothing);
    for (let i = 0; i < 2; i += 1) {
      await dueNow([id]);
      await ask().runOnce(10);
    }
    expect(await types(id)).not.toContain('lookup_absent');
    expect(await state(id)).toBe('unknown');
  });

  test.each([
    ['an error', { at: 'request', send: response(500, 'oops'), then: 'keep' }],
    ['a reset', { at: 'request', then: 'reset' }],
    ['nonsense', { at: 'request', send: response(200, '<html>'), then: 'keep' }],
  ] as const)('takes %s for no answer at all', async (_, behaviour) => {
    const id = await intentWith(lost);
    server.script(behaviour);
    expect(await ask().runOnce(10)).toEqual({ found: 1, changed: 0, failed: 0 });
    expect(await last(id)).toMatchObject({ type: 'lookup_inconclusive' });
  });

  test('hands over to a person when nobody can tell until the deadline', async () => {
    const id = await intentWith(lost, { terms: terms({ deadlineMs: 0 }) });
    server.script({ at: 'request', send: response(500, 'oops'), then: 'keep' });
    await ask().runOnce(10);
    expect(await last(id)).toMatchObject({ type: 'dead_lettered', reason: 'lookup_deadline' });
  });

  test('cannot tell without the tool, and sends nothing', async () => {
    const id = await intentWith(lost, { tool: 'gone.tool' });
    await ask().runOnce(10);
    expect(await last(id)).toMatchObject({ type: 'lookup_inconclusive', detail: expect.stringContaining('gone.tool') });
    expect(server.requests).toEqual([]);
  });

  test('does not let one lookup that fails stop the others', async () => {
    const ids = [await intentWith(lost), await intentWith(lost), await intentWith(lost)];
    server.script({ at: 'request', then: 'reset' }, found(), found());
    expect(await ask().runOnce(10)).toEqual({ found: 3, changed: 2, failed: 0 });
    expect((await Promise.all(ids.map(state))).sort()).toEqual(['committed', 'committed', 'unknown']);
  });

  test('counts what could not be dealt with, and goes on with the rest', async () => {
    const strange = await intentWith(lost);
    const good = await intentWith(lost);
    await database.query("INSERT INTO events VALUES ($1, 99, 'teleported', '{}', 'c', now())", [strange]);
    server.script(found());
    expect(await ask().runOnce(10)).toEqual({ found: 2, changed: 1, failed: 1 });
    expect(await state(good)).toBe('committed');
    await database.query("DELETE FROM events WHERE type = 'teleported'");
  });

  test('deals with no more than it was told', async () => {
    await Promise.all([intentWith(lost), intentWith(lost), intentWith(lost)]);
    server.script(found(), found(), found());
    expect(await ask().runOnce(2)).toMatchObject({ found: 2 });
    expect(await ask().runOnce(2)).toMatchObject({ found: 1 });
    expect(await ask().runOnce(2)).toEqual({ found: 0, changed: 0, failed: 0 });
  });
});

test('the lookup of another contract can show that something is there, never that it is not', async () => {
  const id = await intentWith(lost, { contractDigest: 'f'.repeat(64) });
  server.script(nothing, found());
  await ask().runOnce(10);
  expect(await last(id)).toMatchObject({
    type: 'lookup_inconclusive',
    detail: expect.stringContaining('another contract'),
  });
  await dueNow([id]);
  await ask().runOnce(10);
  expect(await last(id)).toMatchObject({ type: 'committed', proof: 'lookup' });
});

describe('an upstream whose lookups hang', () => {
  test('holds up its own intents only, and finishes what it began', async () => {
    const slow = await MisbehavingServer.start();
    const hanging = toolAt(slow.url, { upstream: { name: 'slow' }, tool: { name: 'slow.act' } });
    const sweeper = new AskUpstream('unknown', store, new Questions(createRegistry([tool, hanging]), upstream), logger);
    slow.script(...Array.from({ length: 8 }, () => ({ at: 'request', then: 'hang' }) as const));
    const theirs = await Promise.all(Array.from({ length: 60 }, () => intentWith(lost, { tool: hanging.name })));
    const ours = await Promise.all(Array.from({ length: 5 }, () => intentWith(lost)));
    // Theirs have been due for longer.
    await database.query("UPDATE intents SET wake_at = now() - interval '1 minute' WHERE id = ANY ($1)", [theirs]);
    server.script(...ours.map(found));

    const since = performance.now();
    await vi.waitFor(
      async () => {
        await sweeper.runOnce(200, 250);
        for (const id of ours) expect(await state(id)).toBe('committed');
      },
      { interval: 10, timeout: 8_000 },
    );
    expect(performance.now() - since, 'long before the call limit').toBeLessThan(8_000);
    expect(slow.requests).toHaveLength(8);

    let over = false;
    const finished = sweeper.finish().then(() => {
      over = true;
    });
    await store.ping();
    expect(over).toBe(false);
    slow.resetConnections();
    await finished;
    for (const id of theirs) expect(await state(id)).toBe('unknown');
    await slow.stop();
  });
});

describe('two reconcilers', () => {
  test('at once ask about an intent once', async () => {
    const other = await Store.open({ url: database.url, name: 'reconciler-spec-2' });
    const ids = await Promise.all(Array.from({ length: 6 }, () => intentWith(lost)));
    server.script(...ids.map(() => found()));
    const [one, two] = await Promise.all([ask('unknown').runOnce(3), ask('unknown', other).runOnce(3)]);
    expect(one.found + two.found).toBe(6);
    expect(server.requests).toHaveLength(6);
    for (const id of ids) expect((await types(id)).filter((type) => type === 'committed')).toHaveLength(1);
    await other.close();
  });

  test('that do ask about the same one come to one decision', async () => {
    const id = await intentWith(lost);
    server.script({ at: 'request', then: 'hang' }, found());
    const slow = ask().runOnce(10);
    await server.seen(1);
    await dueNow([id]);
    expect(await ask().runOnce(10)).toMatchObject({ changed: 1 });
    server.resetConnections();
    expect(await slow).toEqual({ found: 1, changed: 0, failed: 0 });
    expect((await types(id)).slice(3)).toEqual(['outcome_unknown', 'committed']);
  });

  test('cannot make two absences of one moment', async () => {
    const id = await intentWith(lost, { terms: terms({ spacingMs: 60_000 }) });
    server.script({ at: 'request', then: 'hang' }, nothing, nothing);
    const slow = ask().runOnce(10);
    await server.seen(1);
    for (let i = 0; i < 2; i += 1) {
      await dueNow([id]);
      await ask().runOnce(10);
    }
    server.resetConnections();
    await slow;
    expect((await types(id)).filter((type) => type === 'lookup_absent')).toHaveLength(1);
    expect(await state(id)).toBe('unknown');
  });
});

test('what the upstream took on is asked for until it is there, never sent again', async () => {
  const id = await intentWith({ kind: 'accepted', data: null });
  server.script(nothing, found());
  expect(await ask('accepted').runOnce(10)).toEqual({ found: 1, changed: 0, failed: 0 });
  expect(await state(id)).toBe('accepted');
  await dueNow([id]);
  expect(await ask('accepted').runOnce(10)).toEqual({ found: 1, changed: 1, failed: 0 });
  expect(await last(id)).toMatchObject({ type: 'committed', proof: 'lookup' });
  expect(server.requests.every((request) => request.method === 'GET')).toBe(true);
});

describe('what the upstream took on, by a tool that says how to follow it', () => {
  const operation = (state: string) =>
    ({ at: 'request', send: response(200, JSON.stringify({ state, result: { id: 're_7' } })), then: 'keep' }) as const;
  const taken = () => {
    const poll = {
      method: 'GET',
      path: '/operations/{{accepted.operation}}',
      headers: {},
      executed: 'state = "done"',
      failed: 'state = "failed"',
      receipt: 'result',
    } as const;
    tool = toolAt(server.url, { upstream: { poll } });
    const followed = terms({ poll: { everyMs: 1, deadlineMs: 60_000 } });
    return intentWith({ kind: 'accepted', data: { operation: 'op 1' } }, { terms: followed });
  };

  test('is asked about by its own address until it is done', async () => {
    const id = await taken();
    server.script(operation('queued'), operation('done'));
    expect(await ask('accepted').runOnce(10)).toEqual({ found: 1, changed: 0, failed: 0 });
    await dueNow([id]);
    expect(await ask('accepted').runOnce(10)).toEqual({ found: 1, changed: 1, failed: 0 });
    expect(await last(id)).toEqual({ type: 'committed', proof: 'poll', attempt: 1, data: { id: 're_7' } });
    expect(server.requests).toMatchObject([{ path: '/operations/op%201' }, { path: '/operations/op%201' }]);
  });

  test('really fails when it was given up (S38)', async () => {
    const id = await taken();
    server.script(operation('failed'));
    expect(await ask('accepted').runOnce(10)).toEqual({ found: 1, changed: 1, failed: 0 });
    expect(await last(id)).toMatchObject({ type: 'failed', failure: { code: 'upstream_rejected' } });
  });

  test('stays open while the upstream cannot say', async () => {
    const id = await taken();
    server.script({ at: 'request', send: response(500, 'oops'), then: 'keep' });
    await ask('accepted').runOnce(10);
    expect(await last(id)).toMatchObject({ type: 'lookup_inconclusive' });
  });
});

test('a receipt that the lookup gives for two intents proves neither of them anything more', async () => {
  const first = await intentWith(lost);
  const same = found();
  server.script(same, same);
  await ask().runOnce(10);
  expect(await state(first)).toBe('committed');
  const second = await intentWith(lost);
  await ask().runOnce(10);
  expect(await state(second)).toBe('unknown');
  expect(await last(second)).toMatchObject({
    type: 'lookup_inconclusive',
    detail: expect.stringContaining('another intent'),
  });
});

test('receipts of the sandbox, and of other tenants, are no receipts of the real thing', async () => {
  tool = { ...toolAt(server.url), sandbox: toolAt(server.url).upstream };
  const same = found();
  for (const over of [{ sandbox: true }, {}, { tenant: 'other' }]) {
    const id = await intentWith(lost, over);
    server.script(same);
    await ask().runOnce(10);
    expect(await state(id)).toBe('committed');
  }
});

describe('an upstream that answers slowly', () => {
  /** Answers when the test says so, each intent with a receipt of its own. */
  function slowly() {
    const waiting: (() => void)[] = [];
    let asked = 0;
    const lookup = async () => {
      asked += 1;
      const data = { id: `slow ${asked}` };
      await new Promise<void>((resolve) => waiting.push(resolve));
      return { kind: 'present', data } as const;
    };
    const questions = new Questions(createRegistry([tool]), { ...upstream, lookup } as unknown as Upstreams);
    return {
      sweeper: new AskUpstream('unknown', store, questions, logger),
      asked: () => asked,
      answerAll: () => {
        for (const answer of waiting.splice(0)) answer();
      },
    };
  }
  const backlog = async (count: number) => {
    const ids: string[] = [];
    for (let i = 0; i < count; i += 1) ids.push(await intentWith(lost));
    return ids;
  };
  const isDue = async () =>
    (await database.query("SELECT FROM intents WHERE state = 'unknown' AND wake_at <= clock_timestamp()")).length;

  test('is asked about its whole backlog, share by share: what was not asked about is due at once', async () => {
    await backlog(40);
    const { sweeper, asked, answerAll } = slowly();
    await sweeper.runOnce(200, 50);
    await vi.waitFor(async () => expect(await isDue()).toBe(32));
    expect(asked()).toBe(8);
    expect(await sweeper.runOnce(200, 50), 'nothing more is claimed while its share is taken').toMatchObject({
      found: 0,
    });
    for (let share = 2; share <= 5; share += 1) {
      answerAll();
      await vi.waitFor(async () => {
        await sweeper.runOnce(200, 50);
        expect(asked()).toBe(8 * share);
      }, 10_000);
    }
    answerAll();
    await sweeper.finish();
    expect(await isDue()).toBe(0);
  });

  test('is waited for by a single pass, which leaves nothing that it found', async () => {
    const ids = await backlog(20);
    const { sweeper, asked, answerAll } = slowly();
    const pass = sweeper.runOnce(200);
    for (const share of [8, 16, 20]) {
      await vi.waitFor(() => expect(asked()).toBe(share), 10_000);
      answerAll();
    }
    expect(await pass).toEqual({ found: 20, changed: 20, failed: 0 });
    for (const id of ids) expect(await state(id)).toBe('committed');
  });
});

describe('a commit after two absences', () => {
  const twice = { at: 'request', send: response(200, '[{"id":"re_1"},{"id":"re_2"}]'), then: 'keep' } as const;

  async function committedAgain(): Promise<string> {
    tool = toolAt(server.url, { lookup: { count: '$count(data)' } });
    const id = await intentWith(lost, { terms: terms({ counts: true }) });
    server.script(nothing, nothing);
    for (let i = 0; i < 2; i += 1) {
      await dueNow([id]);
      await ask().runOnce(10);
    }
    const { door } = store;
    await door.execute({ intentId: id, command: { type: 'start_attempt', attemptId: `second of ${id}` } });
    const verdict: Verdict = { kind: 'executed', data: { id: 're_2' } };
    await door.execute({
      intentId: id,
      command: { type: 'record_verdict', attemptId: `second of ${id}`, verdict, jitter: 0 },
    });
    await dueNow([id]);
    return id;
  }

  test('is looked at once more, and an effect too many raises an alarm without changing the end', async () => {
    const id = await committedAgain();
    const evidence: unknown[] = [];
    const watched = await Store.open(
      { url: database.url, name: 'review' },
      { corrected: (late) => evidence.push(late) },
    );
    server.script(twice);
    await ask('committed', watched).runOnce(10);
    await watched.close();
    expect((await types(id)).slice(-2)).toEqual(['corrected', 'reviewed']);
    expect(evidence).toMatchObject([{ event: { finding: 'second_effect', breach: 'max_processing' } }]);
    expect(await store.intents.load(id)).toMatchObject({ state: 'committed', data: { id: 're_2' } });
    expect(await ask('committed').runOnce(10)).toEqual({ found: 0, changed: 0, failed: 0 });
  });

  test('stays due while the lookup cannot tell', async () => {
    const id = await committedAgain();
    server.script({ at: 'request', send: response(500, 'oops'), then: 'keep' }, found());
    await ask('committed').runOnce(10);
    expect((await types(id)).at(-1)).toBe('committed');
    await dueNow([id]);
    await ask('committed').runOnce(10);
    expect(await last(id)).toEqual({ type: 'reviewed', detail: 'one effect' });
  });
});

describe('an attempt without a verdict', () => {
  test('becomes unknown once its lease has ended', async () => {
    const id = await intentWith('dispatching', { terms: terms({ leaseMs: 0 }) });
    expect(await new RescueStuck(store, logger).runOnce(10)).toEqual({ found: 1, changed: 1, failed: 0 });
    expect(await last(id)).toMatchObject({ type: 'outcome_unknown', cause: 'lease_expired' });
  });

  test('is left alone before, even when somebody looks too early', async () => {
    const id = await intentWith('dispatching', { terms: terms({ leaseMs: 60_000 }) });
    expect(await new RescueStuck(store, logger).runOnce(10)).toEqual({ found: 1, changed: 0, failed: 0 });
    expect(await state(id)).toBe('dispatching');
  });

  test('goes to a person when the tool has neither key nor lookup', async () => {
    const none = terms({ leaseMs: 0, guarantee: 'none', lookup: 'none' });
    const id = await intentWith('dispatching', { terms: none });
    await new RescueStuck(store, logger).runOnce(10);
    expect(await last(id)).toMatchObject({ type: 'dead_lettered', reason: 'no_way_to_tell' });
  });
});

test('an authorized intent that nobody took is rung for once per round', async () => {
  const id = await intentWith('authorized');
  await dueNow([id]);
  await database.query('DELETE FROM outbox');
  const sweeper = new AnnounceAgain(store);
  expect(await sweeper.runOnce(10)).toEqual({ found: 1, changed: 1, failed: 0 });
  expect(await sweeper.runOnce(10)).toEqual({ found: 0, changed: 0, failed: 0 });
  const [bell] = await database.query<{ payload: string }>('SELECT payload FROM outbox');
  expect(JSON.parse(bell?.payload ?? '')).toEqual({
    intents: [{ id, version: 2, tool: tool.name, toolVersion: 1, sandbox: false }],
  });
});

test('an intent whose run ended before it was sent expires, once, and says that nothing happened', async () => {
  const id = await intentWith('authorized', { expiresAt: Date.now() - 1_000 });
  await dueNow([id]);
  const other = await Store.open({ url: database.url, name: 'reconciler-spec-3' });
  const [one, two] = await Promise.all([new Expire(store, logger).runOnce(10), new Expire(other, logger).runOnce(10)]);
  await other.close();
  expect(one.changed + two.changed).toBe(1);
  expect(one.failed + two.failed).toBe(0);
  expect(await last(id)).toEqual({ type: 'expired' });
});

describe('the reconciler', () => {
  test('gives the counts of one pass by the name of the duty', async () => {
    await intentWith(lost);
    await intentWith('dispatching', { terms: terms({ leaseMs: 0 }) });
    server.script(found(), found());
    const counts = await assemble(store, createRegistry([tool]), upstream, logger).runOnce();
    expect(Object.keys(counts)).toEqual([
      'rescue-stuck',
      'expire',
      'settle-unknown',
      'poll-accepted',
      'review-committed',
      'announce-again',
      'identifiers',
      'event-partitions',
    ]);
    expect(counts['rescue-stuck']).toEqual({ found: 1, changed: 1, failed: 0 });
    expect(counts['settle-unknown']).toMatchObject({ failed: 0, changed: counts['settle-unknown']?.found });
  });

  test('goes on to the other duties when one cannot be done at all', async () => {
    const broken: Sweeper = { name: 'broken', runOnce: () => Promise.reject(new Error('the disk is gone')) };
    const reconciler = new Reconciler([broken, new RescueStuck(store, logger)], store, logger);
    expect(await reconciler.runOnce()).toMatchObject({ broken: { failed: 1 }, 'rescue-stuck': { failed: 0 } });
  });

  test('finishes by itself what a lost dispatcher left behind', async () => {
    const id = await intentWith('dispatching', { terms: terms({ leaseMs: 0 }) });
    server.script(found());
    const reconciler = assemble(store, createRegistry([tool]), upstream, logger);
    reconciler.start();
    await vi.waitFor(async () => expect(await state(id)).toBe('committed'), 10_000);
    await reconciler.stop();
    expect((await types(id)).slice(2)).toEqual(['attempt_started', 'outcome_unknown', 'committed']);
  });
});
