import { expect, test } from 'vitest';
import { newId } from './new-id.js';

test('ids are ULIDs of now and never come twice', () => {
  const before = Date.now();
  const ids = Array.from({ length: 20_000 }, newId);

  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids.slice(0, 100)) expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
  const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  const timeOf = (id: string) => [...id.slice(0, 10)].reduce((sum, c) => sum * 32 + alphabet.indexOf(c), 0);
  expect(timeOf(ids[0] ?? '')).toBeGreaterThanOrEqual(before);
  expect(timeOf(ids.at(-1) ?? '')).toBeLessThanOrEqual(Date.now());
});

test('every character of the random part uses the whole alphabet', () => {
  const seen = Array.from({ length: 16 }, () => new Set<string>());
  for (let i = 0; i < 5_000; i += 1) for (const [place, c] of [...newId().slice(10)].entries()) seen[place]?.add(c);
  expect(seen.map((characters) => characters.size)).toEqual(Array(16).fill(32));
});
