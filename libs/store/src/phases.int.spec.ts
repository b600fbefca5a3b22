import { createDatabase, type TestDatabase } from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { record } from './given.spec-helper.js';
import { Store } from './store.js';

let database: TestDatabase;
let store: Store;
let other: Store;

beforeAll(async () => {
  database = await createDatabase();
  store = await Store.open({ url: database.url, name: 'phases-spec' });
  other = await Store.open({ url: database.url, name: 'phases-spec-2' });
});
afterAll(async () => {
  expect(await store.verify()).toEqual([]);
  await Promise.all([store.close(), other.close()]);
  await database.drop();
});

const run = {
  tenant: 'acme',
  user: 'ada',
  profile: 'batch',
  permissions: ['*'],
  phase: 'resolve',
  openedBy: 'spec',
} as const;
const phases = ['resolve', 'refund'];

/** An intent that may be sent, in a run that is in the phase `resolve`. */
async function authorized(): Promise<{ runId: string; intentId: string }> {
  const { id: runId } = await store.runs.open({ ...run, id: `run_${ulid()}` }, 60_000);
  const { intent } = await store.door.execute(record({ runId, phase: 'resolve' }));
  return { runId, intentId: intent?.proposal.intentId ?? '' };
}
const start = (intentId: string, attemptId = ulid()) =>
  store.door.execute({ intentId, command: { type: 'start_attempt', attemptId, phases } });

test('an intent is sent as long as its run is in a phase of its tool', async () => {
  const { runId, intentId } = await authorized();
  await other.runs.enter(runId, 'acme', 'refund');
  expect(await start(intentId)).toMatchObject({ kind: 'accepted', intent: { state: 'dispatching' } });
});

test.each(['closing', null])(
  'one whose run has gone to the phase %s is denied when it is to be sent, and says so',
  async (phase) => {
    const { runId, intentId } = await authorized();
    await other.runs.enter(runId, 'acme', phase);
    expect(await start(intentId)).toMatchObject({
      kind: 'accepted',
      intent: {
        state: 'denied',
        attempts: [],
        failure: {
          code: 'permission_denied',
          message: expect.stringContaining('may only be called in the phase resolve or refund'),
          details: { rule: 'phase', decidedIn: 'resolve', wouldAllow: 'a run in the phase resolve or refund' },
        },
      },
    });
    expect(await start(intentId)).toMatchObject({ kind: 'rejected', reason: 'not_authorized' });
  },
);

test('a tool that has no phases does not ask', async () => {
  const { runId, intentId } = await authorized();
  await other.runs.enter(runId, 'acme', 'closing');
  const command = { type: 'start_attempt', attemptId: ulid(), phases: null } as const;
  expect(await store.door.execute({ intentId, command })).toMatchObject({ intent: { state: 'dispatching' } });
});

test('what may have run already is completed, whatever the run does now', async () => {
  const { runId, intentId } = await authorized();
  await start(intentId, 'first');
  const lost = { kind: 'unknown', cause: 'reset', detail: 'lost' } as const;
  await store.door.execute({
    intentId,
    command: { type: 'record_verdict', attemptId: 'first', verdict: lost, jitter: 0 },
  });
  await other.runs.enter(runId, 'acme', 'closing');
  const clock = () =>
    database.query<{ ms: number }>('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms');
  const look = async () => {
    const [{ ms } = { ms: 0 }] = await clock();
    const command = { type: 'record_lookup', answer: { kind: 'absent' }, askedAt: Math.floor(ms) } as const;
    return (await store.door.execute({ intentId, command })).intent?.state;
  };
  await expect.poll(look, { timeout: 10_000 }).toBe('authorized');
  expect(await start(intentId)).toMatchObject({ intent: { state: 'dispatching', attempts: [{}, {}] } });
});

test('its neighbours in the transaction are sent', async () => {
  const [one, two] = await Promise.all([authorized(), authorized()]);
  await other.runs.enter(one.runId, 'acme', 'closing');
  const results = await Promise.all([start(one.intentId), start(two.intentId)]);
  expect(results.map(({ intent }) => intent?.state)).toEqual(['denied', 'dispatching']);
});
