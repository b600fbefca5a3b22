import type { Commit, OutboxMessage } from '@intendant/contracts';
import type { In, Intent } from '@intendant/intent';
import { createDatabase, startTcpProxy, type TestDatabase } from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { StoreUnavailable } from './errors.js';
import { given, record, report, start } from './given.spec-helper.js';
import type { Reservation, Starter } from './starter.js';
import { Store } from './store.js';

/** A dispatcher that keeps what it is given. */
class Slots implements Starter {
  readonly reserved: string[] = [];
  readonly started: In<'dispatching'>[] = [];
  released = 0;

  constructor(
    private free: number,
    private readonly onStart: () => void = () => {},
  ) {}

  reserve({ proposal }: In<'authorized'>): Reservation | null {
    if (this.free === 0) return null;
    this.free -= 1;
    this.reserved.push(proposal.intentId);
    return {
      attemptId: ulid(),
      started: (intent) => {
        this.started.push(intent);
        this.onStart();
      },
      release: () => {
        this.released += 1;
      },
    };
  }
}

let database: TestDatabase;
let store: Store;
let slots: Slots;
let commits: Commit[];
let told: string[];

beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(async () => {
  commits = [];
  told = [];
  store = await open(database.url);
});
afterEach(() => store.close());
afterAll(() => database.drop());

function open(url: string): Promise<Store> {
  const committed = (commit: Commit) => {
    commits.push(commit);
    told.push('committed');
  };
  return Store.open({ url, name: 'starter-spec' }, { committed });
}

function free(count: number, of = store): void {
  slots = new Slots(count, () => told.push('started'));
  of.door.startWith(slots);
}

const log = (intentId: string) =>
  database.query<{ type: string; tx: string }>(
    'SELECT type, xmin::text AS tx FROM events WHERE intent_id = $1 ORDER BY version',
    [intentId],
  );
const types = async (intentId: string) => (await log(intentId)).map(({ type }) => type);
const bells = async (intentId: string) =>
  database.query<Pick<OutboxMessage, 'subject'>>(
    "SELECT subject FROM outbox WHERE subject = 'intendant.work.dispatch' AND payload LIKE '%' || $1 || '%'",
    [intentId],
  );
const turnedAway = {
  kind: 'not_executed',
  cause: 'http_503',
  transient: true,
  retryAfterMs: null,
  detail: 'busy',
} as const;
const attemptOf = (intent: Intent | null) => (intent?.state === 'dispatching' ? intent.attempt.attemptId : null);

describe('where there is a free slot', () => {
  test('an intent is recorded, authorized and started in one transaction, and nobody else is told to', async () => {
    free(1);
    const command = record();
    const result = await store.door.execute(command);
    expect(result).toMatchObject({ kind: 'accepted', intent: { state: 'dispatching', version: 3 } });
    const events = await log(command.intentId);
    expect(events.map(({ type }) => type)).toEqual(['recorded', 'authorized', 'attempt_started']);
    expect(new Set(events.map(({ tx }) => tx)).size).toBe(1);
    const rows = await database.query('SELECT state, attempts, xmin::text AS tx FROM intents WHERE id = $1', [
      command.intentId,
    ]);
    expect(rows).toEqual([{ state: 'dispatching', attempts: 1, tx: events[0]?.tx }]);
    expect(await bells(command.intentId)).toEqual([]);
    expect(commits.flatMap(({ dispatch }) => dispatch)).toEqual([]);
    expect(await store.verify()).toEqual([]);
  });

  test('it is handed over once, after the commit and before the caller is answered', async () => {
    free(1);
    const { intent } = await store.door.execute(record());
    told.push('answered');
    expect(told).toEqual(['committed', 'started', 'answered']);
    expect(slots.started).toEqual([intent]);
    expect(attemptOf(intent)).toMatch(/./);
    expect(slots.released).toBe(0);
  });

  test('its verdict may be decided on what was handed over', async () => {
    free(1);
    const command = record();
    await store.door.execute(command);
    const [known] = slots.started;
    const verdict = { kind: 'executed', data: { refund_id: 're_1' } } as const;
    const reported = report(command.intentId, known?.attempt.attemptId ?? '', verdict);
    const result = await store.door.execute({ ...reported, ...(known && { known }) });
    expect(result).toMatchObject({ intent: { state: 'committed', version: 4 } });
  });

  test('an intent that is not allowed takes none', async () => {
    free(1);
    const { intentId, command } = record();
    const failure = { code: 'forbidden', message: 'not allowed', details: {} } as const;
    const denied = { ...command, ruling: { allow: false, failure } } as const;
    expect((await store.door.execute({ intentId, command: denied })).intent?.state).toBe('denied');
    expect(slots.reserved).toEqual([]);
  });

  test('an intent that was recorded earlier is left to be announced', async () => {
    const command = record();
    await store.door.execute(command);
    await store.door.execute(start(command.intentId, 'the first'));
    free(1);
    const again = await store.door.execute(report(command.intentId, 'the first', turnedAway));
    expect(again.intent?.state).toBe('authorized');
    expect(slots.reserved).toEqual([]);
  });
});

describe('where there is none', () => {
  test('an intent is announced by a doorbell and by a hint', async () => {
    free(0);
    const command = record();
    expect(await store.door.execute(command)).toMatchObject({ intent: { state: 'authorized', version: 2 } });
    expect(await bells(command.intentId)).toEqual([{ subject: 'intendant.work.dispatch' }]);
    expect(commits.flatMap(({ dispatch }) => dispatch.map(({ id }) => id))).toEqual([command.intentId]);
  });

  test('as many are started as there are slots, and the others are announced', async () => {
    free(2);
    const commands = Array.from({ length: 5 }, () => record());
    const results = await Promise.all(commands.map((command) => store.door.execute(command)));
    const states = results.map(({ intent }) => intent?.state);
    expect(states).toEqual(['dispatching', 'dispatching', 'authorized', 'authorized', 'authorized']);
    const announced = commits.flatMap(({ dispatch }) => dispatch.map(({ id }) => id));
    expect(announced).toEqual(commands.slice(2).map(({ intentId }) => intentId));
    for (const [i, { intentId }] of commands.entries()) expect(await bells(intentId)).toHaveLength(i < 2 ? 0 : 1);
    expect(slots.started.map(({ proposal }) => proposal.intentId)).toEqual(slots.reserved);
  });
});

describe('a slot is given back', () => {
  test('when the key was recorded before', async () => {
    const first = record();
    await store.door.execute(first);
    free(2);
    const { key } = first.command.proposal;
    const result = await store.door.execute(record({ key }));
    expect(result).toMatchObject({ kind: 'unchanged', intent: { proposal: { intentId: first.intentId } } });
    expect(slots.started).toEqual([]);
    expect(slots.released).toBe(slots.reserved.length);
    expect(await types(first.intentId)).toEqual(['recorded', 'authorized']);
  });

  test('when the run is closed', async () => {
    const id = `run_${ulid()}`;
    const run = {
      tenant: 'acme',
      user: 'ada',
      profile: 'batch',
      permissions: [],
      phase: null,
      openedBy: 'spec',
    } as const;
    await store.runs.open({ ...run, id }, 60_000);
    await store.runs.close(id, 'acme');
    free(2);
    expect(await store.door.execute(record({ runId: id }))).toMatchObject({ reason: 'run_closed' });
    expect(slots.started).toEqual([]);
    expect(slots.released).toBe(1);
  });

  test('when the database refuses the command, while its neighbour is started once', async () => {
    free(2);
    const good = record();
    const outcomes = await Promise.allSettled([
      store.door.execute(record({ tool: 'nul \u0000 byte' })),
      store.door.execute(good),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(slots.started.map(({ proposal }) => proposal.intentId)).toEqual([good.intentId]);
    expect([slots.reserved.length, slots.released]).toEqual([2, 1]);
  });

  test('when the database takes no writes', async () => {
    const name = new URL(database.url).pathname.slice(1);
    const role = `ALTER ROLE intendant_app IN DATABASE ${name}`;
    await database.query(`${role} SET default_transaction_read_only = on`);
    const readOnly = await open(database.url);
    free(1, readOnly);
    const command = record();
    await expect(readOnly.door.execute(command)).rejects.toThrow(StoreUnavailable);
    await database.query(`${role} RESET default_transaction_read_only`);
    await readOnly.close();
    expect(slots.started).toEqual([]);
    expect([slots.reserved.length, slots.released]).toEqual([1, 1]);
    expect(await types(command.intentId)).toEqual([]);
  });

  test('when the database is away', async () => {
    const proxy = await startTcpProxy(Number(new URL(database.url).port));
    onTestFinished(() => proxy.close());
    const remote = await open(proxy.through(database.url));
    onTestFinished(() => remote.close());
    // Now it knows what time it is.
    await given(remote, 'authorized');
    free(1, remote);
    proxy.partition();
    const command = record();
    await expect(remote.door.execute(command)).rejects.toThrow(StoreUnavailable);
    expect(slots.started).toEqual([]);
    expect([slots.reserved.length, slots.released]).toEqual([1, 1]);
    expect(await types(command.intentId)).toEqual([]);
    proxy.heal();
  });
});

test('a COMMIT whose answer is cut off is handed over once all the same', async () => {
  const proxy = await startTcpProxy(Number(new URL(database.url).port));
  onTestFinished(() => proxy.close());
  const remote = await open(proxy.through(database.url));
  onTestFinished(() => remote.close());
  await given(remote, 'authorized');
  free(5, remote);
  const swallowed = proxy.cutOnce({ after: 'attempt_started', direction: 'to_client', bytes: 0 });
  const commands = [record(), record()];
  const results = await Promise.all(commands.map((command) => remote.door.execute(command)));
  await swallowed;
  expect(results.map(({ intent }) => intent?.state)).toEqual(['dispatching', 'dispatching']);
  expect(slots.started.map(({ attempt }) => attempt.attemptId)).toEqual(results.map(({ intent }) => attemptOf(intent)));
  expect([slots.reserved.length, slots.released]).toEqual([2, 0]);
  for (const { intentId } of commands) {
    expect(await types(intentId)).toEqual(['recorded', 'authorized', 'attempt_started']);
  }
});
