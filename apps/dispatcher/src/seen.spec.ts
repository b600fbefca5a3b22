import { expect, test } from 'vitest';
import { Seen } from './seen.js';

test('an announcement is new once', () => {
  const seen = new Seen(10);
  expect(seen.first('a:1')).toBe(true);
  expect(seen.first('a:1')).toBe(false);
  expect(seen.first('a:2')).toBe(true);
});

test('one that was not dealt with is new again', () => {
  const seen = new Seen(1);
  seen.first('a');
  seen.first('b');
  seen.forget('a');
  seen.forget('b');
  expect(seen.first('a')).toBe(true);
  expect(seen.first('b')).toBe(true);
});

test('remembers at least as many as it was made for, and not without end', () => {
  const seen = new Seen(3);
  const all = Array.from({ length: 100 }, (_, i) => `intent ${i}`);
  for (const announcement of all) expect(seen.first(announcement)).toBe(true);
  expect(all.slice(-3).map((announcement) => seen.first(announcement))).toEqual([false, false, false]);
  expect(seen.first('intent 0')).toBe(true);
});
