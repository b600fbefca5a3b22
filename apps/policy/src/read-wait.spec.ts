import { Refusal } from '@intendant/contracts';
import { expect, test } from 'vitest';
import { readWait } from './read-wait.js';

test.each([
  [undefined, 0],
  ['0s', 0],
  ['10s', 10_000],
  ['500ms', 500],
  ['30s', 30_000],
  ['31s', 30_000],
  ['999999ms', 30_000],
])('%s means %d ms', (header, ms) => {
  expect(readWait(header)).toBe(ms);
});

test.each(['', '10', '10 s', '1m', '-1s', '1.5s', '9999999s', 'forever', '10s, 20s', `${'9'.repeat(10_000)}s`])(
  'what is not a time is refused with what would be right: %s',
  (header) => {
    expect(() => readWait(header)).toThrow(Refusal);
    expect(() => readWait(header)).toThrow(
      /Intendant-Wait must be like 10s or 500ms; got ".{0,40}"\. Nothing was recorded/,
    );
  },
);
