import { errorObject, type Session } from '@intendant/contracts';
import { createDatabase, type TestDatabase, toolAt } from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Store } from './store.js';

let database: TestDatabase;
let store: Store;
let replica: Store;

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'records-spec' });
  replica = await Store.open({ url: database.url, name: 'records-spec-2' });
});
afterAll(async () => {
  await store.close();
  await replica.close();
  await database.drop();
});

describe('a run', () => {
  const run = (over = {}) => ({
    id: `run_${ulid()}`,
    tenant: 'acme',
    user: 'ada',
    profile: 'batch' as const,
    permissions: ['payments:*', 'mail:send'],
    phase: null,
    openedBy: 'bot',
    ...over,
  });

  test('is found as it was opened, with its end on the database clock', async () => {
    const opened = await store.runs.open(run({ phase: 'planning' }), 60_000);
    const [clock] = await database.query<{ ms: number }>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
    );
    expect(await replica.runs.find(opened.id)).toEqual(opened);
    expect(opened).toMatchObject({ phase: 'planning', permissions: ['payments:*', 'mail:send'], closed: false });
    expect(Math.abs(opened.expiresAt - (clock?.ms ?? 0) - 60_000)).toBeLessThan(5_000);
  });

  test('is closed once and stays closed at the same time', async () => {
    const { id } = await store.runs.open(run(), 60_000);
    const closedAt = () => database.query('SELECT closed_at FROM runs WHERE id = $1', [id]);
    expect(await store.runs.close(id, 'acme')).toBe(true);
    const first = await closedAt();
    expect(await replica.runs.close(id, 'acme')).toBe(true);
    expect(await closedAt()).toEqual(first);
    expect(await store.runs.find(id)).toMatchObject({ closed: true });
  });

  test('of another tenant cannot be closed', async () => {
    const { id } = await store.runs.open(run({ tenant: 'umbrella' }), 60_000);
    expect(await store.runs.close(id, 'acme')).toBe(false);
    expect(await store.runs.close(`run_${ulid()}`, 'acme')).toBe(false);
    expect(await store.runs.find(id)).toMatchObject({ tenant: 'umbrella', closed: false });
  });

  test('that does not exist is null, among others that do', async () => {
    const opened = await store.runs.open(run(), 60_000);
    const asked = [opened.id, `run_${ulid()}`, opened.id].map((id) => store.runs.find(id));
    expect(await Promise.all(asked)).toEqual([opened, null, opened]);
  });
});

describe('a dead message', () => {
  const session = (runId: string): Session => ({
    tenant: 'acme',
    runId,
    user: 'ada',
    permissions: [],
    phase: null,
    profile: 'batch',
    expiresAt: 1,
  });
  const error = errorObject('invalid_message', 'not JSON');
  const bytes = (text: string) => new TextEncoder().encode(text);
  const count = async () => (await store.deadMessages.list({ limit: 100 })).length;

  test('keeps its bytes, its verified sender and what is wrong with it', async () => {
    const payload = new Uint8Array([0, 255, 123]);
    const message = { subject: 'intendant.intents.acme', payload, credential: 'Bearer secret' };
    await store.deadMessages.keep(message, session('run_1'), error);
    const [kept] = await store.deadMessages.list({ limit: 1 });
    expect(kept).toMatchObject({ subject: 'intendant.intents.acme', session: session('run_1'), error, intentId: null });
    const whole = await replica.deadMessages.find(kept?.id ?? '');
    expect(whole).toMatchObject({ ...kept, tenant: 'acme' });
    expect([...(whole?.payload ?? [])]).toEqual([...payload]);
    const columns = await database.query<{ row: string }>('SELECT m::text AS row FROM dead_messages AS m');
    expect(columns.some(({ row }) => row.includes('secret'))).toBe(false);
  });

  test('delivered again is the same one; from another sender or subject it is another', async () => {
    const before = await count();
    const keep = (subject: string, credential: string) =>
      store.deadMessages.keep({ subject, payload: bytes('again'), credential }, null, error);
    await Promise.all([keep('a', 'one'), keep('a', 'one'), keep('a', 'one')]);
    await keep('a', 'two');
    await keep('a', '');
    await keep('a', '');
    await keep('b', '');
    expect((await count()) - before).toBe(4);
  });

  test('belongs to its sender, or to the tenant it was addressed to, and is listed for that one', async () => {
    const keep = (text: string, from: Session | null) =>
      store.deadMessages.keep(
        { subject: 'intendant.intents.umbrella', payload: bytes(text), credential: '' },
        from,
        error,
      );
    await keep('of nobody', null);
    await keep('of somebody else', session('run_3'));
    const listed = async (tenant: string) => (await store.deadMessages.list({ limit: 1, tenant }))[0]?.session?.runId;
    expect(await listed('umbrella')).toBeUndefined();
    expect(await store.deadMessages.list({ limit: 10, tenant: 'umbrella' })).toHaveLength(1);
    expect(await listed(session('run_3').tenant)).toBe('run_3');
  });

  test('leaves the list once it was replayed, and says into which intent and by whom', async () => {
    await store.deadMessages.keep({ subject: 'a', payload: bytes('replay me'), credential: '' }, null, error);
    const [{ id } = { id: '' }] = await store.deadMessages.list({ limit: 1 });
    await store.deadMessages.markReplayed(id, 'olga', 'the intent');
    expect((await store.deadMessages.list({ limit: 100 })).map((message) => message.id)).not.toContain(id);
    expect(await store.deadMessages.find(id)).toMatchObject({ intentId: 'the intent', replayedAt: expect.any(String) });
    expect(await database.query('SELECT replayed_by FROM dead_messages WHERE id = $1', [id])).toEqual([
      { replayed_by: 'olga' },
    ]);
  });

  test('leaves the list once it was dismissed, and says by whom, when and why', async () => {
    await store.deadMessages.keep({ subject: 'a', payload: bytes('dismiss me'), credential: '' }, null, error);
    const [{ id } = { id: '' }] = await store.deadMessages.list({ limit: 1 });
    expect(await store.deadMessages.find(id)).toMatchObject({ dismissal: null });
    expect(await store.deadMessages.dismiss(id, 'olga', 'a test of theirs')).toBe(true);
    expect((await store.deadMessages.list({ limit: 100 })).map((message) => message.id)).not.toContain(id);
    const dismissal = { at: expect.any(String), by: 'olga', reason: 'a test of theirs' };
    const dismissed = await store.deadMessages.find(id);
    expect(dismissed).toMatchObject({ dismissal, intentId: null });
    expect(await replica.deadMessages.dismiss(id, 'otto', 'another reason')).toBe(false);
    expect(await store.deadMessages.find(id)).toEqual(dismissed);
    expect(await store.deadMessages.dismiss('no such id', 'olga', 'r')).toBe(false);
  });

  test('that was replayed into an intent is not dismissed', async () => {
    await store.deadMessages.keep({ subject: 'a', payload: bytes('both'), credential: '' }, null, error);
    const [{ id } = { id: '' }] = await store.deadMessages.list({ limit: 1 });
    await store.deadMessages.markReplayed(id, 'olga', 'the intent');
    expect(await store.deadMessages.dismiss(id, 'olga', 'r')).toBe(false);
    expect(await store.deadMessages.find(id)).toMatchObject({ intentId: 'the intent', dismissal: null });
  });

  test.each(['replayed', 'dismissed'])('that was %s is open again when it comes again', async (closed) => {
    const message = { subject: 'a', payload: bytes(`again, ${closed}`), credential: 'c' };
    await store.deadMessages.keep(message, null, error);
    const [first] = await store.deadMessages.list({ limit: 1 });
    const id = first?.id ?? '';
    const row = async () =>
      (
        await database.query<{ at: string; by: string | null }>(
          `SELECT received_at::text AS at, coalesce(replayed_by, dismissed_by, dismiss_reason) AS by
           FROM dead_messages WHERE id = $1`,
          [id],
        )
      )[0];
    const received = await row();
    const later = errorObject('invalid_arguments', 'still wrong');
    await store.deadMessages.keep(message, session('run_4'), later);
    expect(await store.deadMessages.list({ limit: 1 })).toEqual([first]);

    if (closed === 'replayed') await store.deadMessages.markReplayed(id, 'olga', 'the intent');
    else await store.deadMessages.dismiss(id, 'olga', 'r');
    await replica.deadMessages.keep(message, session('run_4'), later);
    const [open] = await store.deadMessages.list({ limit: 1 });
    expect(open).toMatchObject({ id, error: later, session: session('run_4'), tenant: 'acme' });
    expect(open).toMatchObject({ replayedAt: null, intentId: null, dismissal: null });
    const now = await row();
    expect([now?.by, now?.at === received?.at]).toEqual([null, false]);
  });

  test('is listed newest first, by page', async () => {
    const all = (await store.deadMessages.list({ limit: 100 })).map((message) => message.id);
    expect(all).toEqual(all.toSorted().reverse());
    const second = await store.deadMessages.list({ limit: 1, before: all[0] });
    expect(second.map((message) => message.id)).toEqual([all[1]]);
  });

  test('that does not exist is null', async () => {
    expect(await store.deadMessages.find('no such id')).toBeNull();
  });
});

test("a tool version's contract is the one that was loaded first, whichever replica is asked", async () => {
  const tool = (digest: string, version = 1) =>
    toolAt('http://127.0.0.1', { tool: { version, contract: { digest }, contractDigest: digest } });
  const answers = await Promise.all([
    store.toolContracts.remember(tool('a')),
    replica.toolContracts.remember(tool('b')),
  ]);
  expect(answers[0]).toEqual(answers[1]);
  const winner = answers[0]?.digest ?? '';
  expect(await store.toolContracts.remember(tool('c'))).toEqual({ digest: winner, contract: { digest: winner } });
  expect(await store.toolContracts.remember(tool('c', 2))).toEqual({ digest: 'c', contract: { digest: 'c' } });
});
