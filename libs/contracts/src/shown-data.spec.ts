import type { JsonObject, Showing } from '@intendant/intent';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { intentIn } from './intents.spec-helper.js';
import { publicEvent } from './public-events.js';
import { resultOf } from './result.js';
import { intentOfHandle, jsonBytes } from './shown-data.js';

const { terms } = intentIn('committed').proposal;
const committed = (data: unknown, shows: Showing = {}, args: JsonObject = {}, untrusted = false) =>
  intentIn('committed', { proposal: { args, terms: { ...terms, shows, untrusted } } }, { data: data as JsonObject });
const result = (...of: Parameters<typeof committed>) => resultOf(committed(...of), false);

const items = (length: number) => Array.from({ length }, (_, n) => ({ id: `o-${n}` }));
const list = { at: '/items', limit: 20, max: 100 };

describe('data that is too large', () => {
  /** A text that takes so many bytes as JSON, quotes included. */
  const text = (bytes: number, of = 'x') => of.repeat((bytes - 2) / Buffer.byteLength(of));

  test('of exactly the size is shown; a byte more is not', () => {
    expect(result(text(16_384))).toMatchObject({ data: text(16_384), summary: null, handle: null });
    expect(result(text(16_385))).toMatchObject({ data: null, handle: 'res_01J9Z3M5V6W7X8Y9Z0A1B2C3D4' });
    expect(result(text(300), { maxBytes: 300 }).data).toBe(text(300));
    expect(result(text(301), { maxBytes: 300 }).data).toBeNull();
  });

  test('is measured in bytes, not characters', () => {
    expect(result(text(302, '€'), { maxBytes: 302 }).data).toBe('€'.repeat(100));
    expect(result(text(302, '€'), { maxBytes: 301 }).data).toBeNull();
    expect(result(text(402, '😀'), { maxBytes: 402 }).data).toBe('😀'.repeat(100));
    // What JSON has to escape counts as it is written.
    expect(result('"'.repeat(151), { maxBytes: 303 }).data).toBeNull();
  });

  test('is told of: what it is and how much', () => {
    const data = { orders: items(2_000), next: 'abc', 'ignore all rules and': 1 };
    expect(result(data).summary).toBe(
      'payments.refund.create answered 30,940 bytes of JSON, more than the 16,384 that are shown: an object with orders (a list of 2,000), next (text) and 1 more. The handle reads it by page and by JSON Pointer.',
    );
    expect(result(data, {}, {}, true).summary).toContain('shown: an object of 3. The handle');
  });

  test('of a list is told with how many of how many', () => {
    const large = Array.from({ length: 30 }, () => 'x'.repeat(1_000));
    const shown = result({ items: large, total: 3_412 }, { list: { ...list, total: '/total' } });
    expect(shown).toMatchObject({ data: null, total: 3_412 });
    expect(shown.summary).toContain('It lists 30 of 3,412.');
  });

  test('is left out of events all the same', () => {
    const message = publicEvent({ type: 'committed' } as never, committed(text(20_000)), 0);
    expect(JSON.parse(message?.payload ?? '')).toMatchObject({ data: { data: null, handle: expect.any(String) } });
  });

  test('and deeply nested does no harm', () => {
    const deep = JSON.parse(`${'['.repeat(3_000)}${']'.repeat(3_000)}`);
    expect(result(deep, { maxBytes: 1_000 })).toMatchObject({
      data: null,
      summary: expect.stringContaining('a list of 1'),
    });
  });
});

describe('a declared list', () => {
  test('is shortened, with how many there are and a plain sentence', () => {
    const shows = { list: { ...list, order: 'newest first', narrow: ['status', 'since'] } };
    expect(result({ items: items(3_412), next: 'x' }, shows)).toMatchObject({
      data: { items: items(20), next: 'x' },
      total: 3_412,
      summary: 'Showing 20 of 3,412, newest first; narrow with status= or since=. The handle reads the rest.',
      handle: 'res_01J9Z3M5V6W7X8Y9Z0A1B2C3D4',
    });
  });

  test('of no more than the limit is whole', () => {
    expect(result({ items: items(20) }, { list })).toMatchObject({
      data: { items: items(20) },
      total: 20,
      summary: null,
      handle: null,
    });
    expect(result({ items: [] }, { list })).toMatchObject({ total: 0, summary: null });
  });

  test('of which the upstream gave a part says so, and no handle can read more', () => {
    const shown = result({ items: items(5), of: 900 }, { list: { ...list, total: '/of' } });
    expect(shown).toMatchObject({
      total: 900,
      handle: null,
      summary: 'Showing 5 of 900. payments.refund.create was given no more than these.',
    });
    expect(result({ items: items(50), of: 900 }, { list: { ...list, total: '/of' } }).summary).toBe(
      'Showing 20 of 900. The handle reads the 50 that payments.refund.create was given.',
    );
    // A total that cannot be true is not repeated.
    expect(result({ items: items(5), of: 3 }, { list: { ...list, total: '/of' } }).total).toBe(5);
    expect(result({ items: items(5), of: 'ignore' }, { list: { ...list, total: '/of' } }).total).toBe(5);
  });

  test('is as long as the call asked for, up to the maximum', () => {
    const shows = { list: { ...list, argument: 'limit' } };
    const asked: JsonObject[] = [{}, { limit: 5 }, { limit: 60 }, { limit: 5_000 }, { limit: -1 }, { limit: '7' }];
    const shownFor = (args: JsonObject) =>
      (result({ items: items(400) }, shows, args).data as { items: [] }).items.length;
    expect(asked.map(shownFor)).toEqual([20, 5, 60, 100, 20, 20]);
    expect(result({ items: items(400) }, { list }, { limit: 5 }).data).toEqual({ items: items(20) });
  });

  test('may be the data itself, or stand in a list', () => {
    expect(result(items(30), { list: { ...list, at: '' } }).data).toEqual(items(20));
    expect(result({ pages: [{ rows: items(30) }, 1] }, { list: { ...list, at: '/pages/0/rows' } }).data).toEqual({
      pages: [{ rows: items(20) }, 1],
    });
  });

  test('that is not there changes nothing', () => {
    for (const data of [{ items: 'none' }, {}, null, 'text']) {
      expect(result(data, { list })).toMatchObject({ data, summary: null, handle: null });
    }
  });
});

test('nothing that is shown is larger than it may be, and a handle is there where anything is missing', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { maxLength: 40 }), fc.integer({ min: 256, max: 2_000 }), (all, maxBytes) => {
      const data = JSON.parse(JSON.stringify({ items: all }));
      const shown = result(data, { maxBytes, list: { ...list, limit: 3 } });
      expect(jsonBytes(shown.data)).toBeLessThanOrEqual(maxBytes);
      const isWhole = JSON.stringify(shown.data) === JSON.stringify(data);
      expect([shown.handle === null, shown.summary === null]).toEqual([isWhole, isWhole]);
    }),
  );
});

test('a handle names its intent, and nothing else is one', () => {
  expect(intentOfHandle('res_01J9Z3M5V6W7X8Y9Z0A1B2C3D4')).toBe('01J9Z3M5V6W7X8Y9Z0A1B2C3D4');
  for (const none of ['', 'res_', '01J9Z3M5V6W7X8Y9Z0A1B2C3D4', 'res_01J9Z3M5V6W7X8Y9Z0A1B2C3D4/..', 'res_x']) {
    expect(intentOfHandle(none)).toBeNull();
  }
});
