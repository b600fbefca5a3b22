import { createDatabase, type TestDatabase } from '@intendant/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const sound = {
  id: 'a',
  tenant: 'acme',
  run_id: 'run',
  tool: 'mail.send',
  tool_version: 1,
  effect: 'write',
  key: 'the key',
  fingerprint: 'f',
  state: 'authorized',
  version: 2,
  attempts: 0,
  reason: null as string | null,
  lease_until: null as string | null,
  wake_at: '2026-01-01' as string | null,
  expires_at: '2026-01-01',
  recorded_at: '2026-01-01',
  since: '2026-01-01',
};

function insert(change: Partial<typeof sound>): Promise<unknown> {
  const row = { ...sound, ...change };
  const names = Object.keys(row);
  const places = names.map((_, i) => `$${i + 1}`);
  return database.query(`INSERT INTO intents (${names.join(', ')}) VALUES (${places.join(', ')})`, Object.values(row));
}

test('the database takes a row that says what the domain may say', async () => {
  await insert({});
  await insert({ id: 'b', key: 'b', state: 'dispatching', attempts: 1, lease_until: '2026-01-01' });
  await insert({ id: 'c', key: 'c', state: 'dead_lettered', attempts: 1, wake_at: null, reason: 'no_way_to_tell' });
  await insert({ id: 'd', key: 'd', state: 'denied', wake_at: null });
});

const wrong: readonly [constraint: string, change: Partial<typeof sound>][] = [
  ['one_intent_per_key', { id: 'z' }],
  ['intents_pkey', { key: 'z' }],
  ['an_open_attempt_has_a_lease', { state: 'dispatching', attempts: 1 }],
  ['an_open_attempt_has_a_lease', { lease_until: '2026-01-01' }],
  ['whatever_can_move_is_swept', { wake_at: null }],
  ['whatever_can_move_is_swept', { state: 'failed' }],
  ['an_effect_needs_an_attempt', { state: 'unknown' }],
  ['an_effect_needs_an_attempt', { state: 'committed', wake_at: null }],
  ['a_dead_letter_has_a_reason', { state: 'dead_lettered', attempts: 1, wake_at: null }],
  ['intents_state_check', { state: 'lost', wake_at: null }],
  ['intents_effect_check', { effect: 'explosive' }],
  ['intents_version_check', { version: 0 }],
  ['intents_attempts_check', { attempts: -1 }],
];

test.each(wrong)('%s refuses %o', async (constraint, change) => {
  await expect(
    insert({
      id: 'new',
      key: 'new',
      ...change,
      ...(change.id && { key: sound.key }),
      ...(change.key && { id: sound.id }),
    }),
  ).rejects.toMatchObject({ constraint });
});

test('an event has a version, and no two of an intent have the same', async () => {
  const event = (version: number) =>
    database.query(
      "INSERT INTO events (intent_id, version, type, data, command_id, recorded_at) VALUES ('a', $1, 't', '{}', 'c', now())",
      [version],
    );
  await event(1);
  await expect(event(1)).rejects.toMatchObject({ code: '23505' });
  await expect(event(0)).rejects.toMatchObject({ constraint: 'events_version_check' });
});

test('a run has one of the known profiles', async () => {
  await expect(
    database.query(
      "INSERT INTO runs (id, tenant, user_id, profile, permissions, opened_by, expires_at) VALUES ('r', 't', 'u', 'sleepy', '{}', 'o', now())",
    ),
  ).rejects.toMatchObject({ constraint: 'runs_profile_check' });
});
