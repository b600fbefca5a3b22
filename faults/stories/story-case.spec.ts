import { describe, expect, it } from 'vitest';
import type { CaseContext } from '../case.js';
import { stories, waiting } from './layer.js';
import type { FileResult, TestResult } from './run-tests.js';
import { all } from './stories.js';
import { storyCase } from './story-case.js';

const story = {
  id: 'S55',
  what: 'a cut',
  tests: [
    ['outbox', 'a cut after %s (S55)'],
    ['outbox', 'a retry (S55)'],
    ['bus', 'another (S55)'],
  ],
} as const;
const context = {} as CaseContext;
const passed = (title: string): TestResult => ({ title, status: 'passed', failure: null });
const good: Record<string, FileResult> = {
  outbox: {
    tests: ['suite a cut after one (S55)', 'suite a cut after two (S55)', 'a retry (S55)', 'other (S52)'].map(passed),
    problem: null,
    seconds: 3,
  },
  bus: { tests: [passed('another (S55)')], problem: null, seconds: 2 },
};
const report = (results: Record<string, FileResult>) =>
  storyCase(story, 7, async (file) => results[file] as FileResult).run(context);
const outbox = (changes: Partial<FileResult>) => ({ ...good, outbox: { ...good['outbox'], ...changes } as FileResult });

describe('a story', () => {
  it('holds when each of its tests, in every file, was run and passed', async () => {
    expect(await report(good)).toEqual({
      ...{ name: 'S55', layer: 'L4', seed: 7, seconds: 5, intents: 0, faults: {}, reached: {} },
      ...{ violations: [], figures: { tests: 4 }, replay: { story: 'S55' } },
    });
  });

  it('does not hold when one of its tests failed, and says which and why; those of others do not count', async () => {
    const failure = 'AssertionError: expected 2 to be 1\n    at stories-outbox.flow.spec.ts:12:3';
    const tests = good['outbox']?.tests.map((test, i) =>
      i === 1 || i === 3 ? ({ ...test, status: 'failed', failure } as const) : test,
    );
    const { violations, broken } = await report(outbox({ tests }));
    expect(broken).toBeUndefined();
    expect(violations).toEqual([
      {
        rule: 'S55',
        message: 'suite a cut after two (S55): AssertionError: expected 2 to be 1',
        intentId: null,
        timeline: [{ at: null, who: 'test', what: 'at stories-outbox.flow.spec.ts:12:3' }],
      },
    ]);
  });

  it('cannot be judged when a test of it was not run, because there is none or the services did not start', async () => {
    const tests = good['outbox']?.tests.filter(({ title }) => !title.includes('retry'));
    expect((await report(outbox({ tests }))).broken).toBe('"a retry (S55)" was not run: outbox has no such test');
    const idle = good['outbox']?.tests.map((test) => ({ ...test, status: 'not_run' as const }));
    const { broken } = await report(outbox({ tests: idle, problem: 'policy ended before it was ready' }));
    expect(broken).toContain('"a cut after %s (S55)" was not run: policy ended before it was ready');
  });
});

describe('the layer', () => {
  it('has a case for each story that has a test, and names the feature of every other', async () => {
    const cases = await stories.cases({ seed: 1, rounds: 0, short: false });
    const named = new Set([...cases.map(({ name }) => name), ...waiting.map((line) => line.split(' ')[0])]);
    expect([...named].sort()).toEqual(all.map(({ id }) => id).sort());
    expect(cases.map(({ name }) => name)).toContain('S23');
    expect(waiting).toContain('T12 waits for bulk replay');
  });

  it('leaves the short run to npm test, which has all of its tests anyway', async () => {
    expect(await stories.cases({ seed: 1, rounds: 0, short: true })).toEqual([]);
  });

  it('takes back what it wrote, and nothing else', () => {
    expect(stories.again({ story: 'S23' }).name).toBe('S23');
    expect(() => stories.again({ story: 'T12' })).toThrow('not a replay of the layer L4');
    expect(() => stories.again({ property: 'x' })).toThrow('not a replay of the layer L4');
  });
});
