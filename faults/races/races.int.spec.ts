import { createDatabase, type TestDatabase } from '@intendant/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runSchedules } from './run-schedules.js';
import { maxProcessingMs } from './tools.js';

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

/** More than a slow machine needs. */
const limitMs = 60_000;

describe('two of each service that work on the same intents', () => {
  test('keep the promise, whoever goes on before whom', async () => {
    const { violations, schedules, intents } = await runSchedules({ database, seed: 1, runs: 6, limitMs });
    expect(violations).toEqual([]);
    expect(schedules).toBe(6);
    expect(intents).toBeGreaterThanOrEqual(6);
  }, 120_000);

  test('are found out when the upstream takes longer than it declares, and are so again', async () => {
    const late = { seed: 6, limitMs, processingMs: 20 * maxProcessingMs };
    const found = await runSchedules({ database, ...late, runs: 1, smallerMs: 0 });
    const rules = found.violations.map(({ rule }) => rule);
    expect(rules).toContain('I1');
    await database.drop();
    database = await createDatabase();
    const again = await runSchedules({ database, ...late, runs: 1, path: found.path ?? '' });
    expect(again.schedules).toBe(1);
    expect(again.violations.map(({ message }) => message.replace(/ 01[0-9A-Z]{24}/, ''))).toEqual(
      found.violations.map(({ message }) => message.replace(/ 01[0-9A-Z]{24}/, '')),
    );
  }, 120_000);
});
