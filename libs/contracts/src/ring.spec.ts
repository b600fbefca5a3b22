import { expect, test } from 'vitest';
import { readIds, readRing } from './ring.js';

const bytes = (text: string) => new TextEncoder().encode(text);

test('a ring is read as it was written', () => {
  const ring = { intents: [{ id: 'i', version: 2, tool: 'a.b', toolVersion: 1 }] };
  expect(readRing(bytes(JSON.stringify(ring)))).toEqual(ring);
  expect(readIds(bytes('["a","b"]'))).toEqual(['a', 'b']);
});

test.each([
  'junk',
  '',
  'null',
  '5',
  '[]',
  '{}',
  '{"intents":5}',
  '{"intents":["x"]}',
  '{"intents":[null]}',
  '{"intents":[{"id":1,"version":2,"tool":"a","toolVersion":1}]}',
  '{"intents":[{"id":"i","version":2,"tool":"a"}]}',
])('%s is no ring and no list of ids, and harms nobody', (text) => {
  expect(readRing(bytes(text))).toBeNull();
  expect(readIds(bytes(text))).toEqual([]);
});
