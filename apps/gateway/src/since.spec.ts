import { expect, it } from 'vitest';
import { parseSince } from './since.js';

it.each([
  ['7d', { forMs: 7 * 86_400_000 }],
  ['PT30M', { forMs: 1_800_000 }],
  ['1970-01-01T00:00:01Z', { at: 1_000 }],
  ['2026-01-31T12:00:00.123456Z', { at: Date.UTC(2026, 0, 31, 12, 0, 0, 123) }],
  ['2026-01-31T12:00:00+02:00', { at: Date.UTC(2026, 0, 31, 10) }],
  ['2026-01-31', null],
  ['2026-01-31T12:00:00', null],
  ['2026-13-31T12:00:00Z', null],
  ['1969-12-31T23:59:59Z', null],
  ['yesterday', null],
  ['', null],
])('reads %j as %j', (text, since) => {
  expect(parseSince(text)).toEqual(since);
});
