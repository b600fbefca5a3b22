import type { Intent, Json, Showing } from '@intendant/intent';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Refusal } from './errors.js';
import { intentIn } from './intents.spec-helper.js';
import { type PageRequest, pageOf } from './result-page.js';
import { jsonBytes } from './shown-data.js';

const { terms } = intentIn('committed').proposal;
const answered = (data: Json, shows: Showing = {}, untrusted = false) =>
  intentIn('committed', { proposal: { terms: { ...terms, shows, untrusted } } }, { data });

function refusal(intent: Intent, request: PageRequest) {
  try {
    return pageOf(intent, request);
  } catch (error) {
    if (error instanceof Refusal) return `${error.error.code}: ${error.message}`;
    throw error;
  }
}

/** All pages of what stands at a pointer. */
function pages(intent: Intent, request: PageRequest = {}) {
  const read = [pageOf(intent, request)];
  for (;;) {
    const { nextCursor } = read[read.length - 1] ?? { nextCursor: null };
    if (nextCursor === null) return read;
    expect(read.length).toBeLessThan(5_000);
    read.push(pageOf(intent, { ...request, cursor: nextCursor }));
  }
}

const orders = Array.from({ length: 45 }, (_, n) => ({ id: `o-${n}`, lines: [n, n + 1] }));
const list = { at: '/orders', limit: 20, max: 50 };

describe('reading by handle', () => {
  const intent = answered({ orders, next: null }, { list });

  test('goes through the declared list by itself', () => {
    const read = pages(intent);
    expect(read.map(({ data }) => (data as Json[]).length)).toEqual([20, 20, 5]);
    expect(read.flatMap(({ data }) => data)).toEqual(orders);
    expect(read[1]).toMatchObject({
      ...{ handle: 'res_01J9Z3M5V6W7X8Y9Z0A1B2C3D4', tool: 'payments.refund.create', pointer: '/orders' },
      ...{ kind: 'list', total: 45, omitted: [], nextCursor: '40' },
    });
  });

  test('reads what a pointer names, the whole by the empty one', () => {
    expect(pageOf(intent, { pointer: '/orders/44/lines/1' })).toMatchObject({ kind: 'value', data: 45, total: null });
    expect(pageOf(intent, { pointer: '' })).toMatchObject({ kind: 'object', data: { orders, next: null }, total: 2 });
    const odd = answered({ 'a/b': { '~': 1, '': 2 } });
    expect(pageOf(odd, { pointer: '/a~1b/~0' }).data).toBe(1);
    expect(pageOf(odd, { pointer: '/a~1b/' }).data).toBe(2);
  });

  test('without a declared list reads the data', () => {
    expect(pageOf(answered({ orders }), {})).toMatchObject({ pointer: '', kind: 'object' });
    expect(pageOf(answered({ none: 1 }, { list }), {})).toMatchObject({ pointer: '', data: { none: 1 } });
  });

  test('tells of text from outside', () => {
    expect(pageOf(answered('x', {}, true), {})).toMatchObject({
      untrusted: true,
      warning: expect.stringContaining('instructions'),
    });
    expect(pageOf(answered('x'), {})).not.toHaveProperty('untrusted');
  });

  test.each([
    [
      '/nowhere',
      'not_found: There is nothing at /nowhere: the data is an object with orders (a list of 45), next (null).',
    ],
    ['/orders/45', 'not_found: There is nothing at /orders/45: /orders is a list of 45, from 0 to 44.'],
    ['/orders/-1', 'not_found: There is nothing at /orders/-1: /orders is a list of 45, from 0 to 44.'],
    ['/orders/01', 'not_found: There is nothing at /orders/01: /orders is a list of 45, from 0 to 44.'],
    ['/orders/length', 'not_found: There is nothing at /orders/length: /orders is a list of 45, from 0 to 44.'],
    [
      '/constructor',
      'not_found: There is nothing at /constructor: the data is an object with orders (a list of 45), next (null).',
    ],
    ['/next/x', 'not_found: There is nothing at /next/x: /next is null.'],
    [
      'orders',
      'invalid_arguments: /pointer: expected a JSON Pointer such as /items/0/name, in which ~1 stands for / and ~0 for ~; empty for all of the data.',
    ],
    [
      '/a~b',
      'invalid_arguments: /pointer: expected a JSON Pointer such as /items/0/name, in which ~1 stands for / and ~0 for ~; empty for all of the data.',
    ],
  ])('the pointer %s into nowhere is answered with what is there', (pointer, says) => {
    expect(refusal(intent, { pointer })).toBe(says);
  });

  test('names no members of what was written outside', () => {
    expect(refusal(answered({ obey: 1 }, {}, true), { pointer: '/x' })).toBe(
      'not_found: There is nothing at /x: the data is an object of 1.',
    );
  });

  test.each([
    [
      { cursor: '46' },
      'invalid_arguments: /cursor: expected the nextCursor of the page before; what stands there ends at 45.',
    ],
    [{ cursor: '-1' }, 'invalid_arguments: /cursor: expected the nextCursor of the page before.'],
    [{ limit: 51 }, 'invalid_arguments: /limit: expected a whole number from 1 to 50.'],
    [{ limit: 0 }, 'invalid_arguments: /limit: expected a whole number from 1 to 50.'],
    [{ limit: Number.NaN }, 'invalid_arguments: /limit: expected a whole number from 1 to 50.'],
  ])('%o is refused with what would be right', (request, says) => {
    expect(refusal(intent, request)).toBe(says);
  });

  test('of what has no data says how it stands', () => {
    expect(refusal(intentIn('unknown'), {})).toBe(
      'not_found: There is no data to read: intent 01J9Z3M5V6W7X8Y9Z0A1B2C3D4 is unknown.',
    );
  });
});

describe('a page', () => {
  test('leaves out what is too large for any, and says where it is', () => {
    const large = answered({ a: 1, deep: { big: 'x'.repeat(600) }, z: [2] }, { maxBytes: 300 });
    expect(pageOf(large, {})).toMatchObject({
      data: { a: 1, z: [2] },
      omitted: [{ pointer: '/deep', what: 'an object of 1, 610 bytes' }],
      nextCursor: null,
    });
    expect(pageOf(answered([1, 'x'.repeat(400), 3], { maxBytes: 300 }), {})).toMatchObject({
      data: [1, null, 3],
      omitted: [{ pointer: '/1' }],
    });
  });

  test('of a text costs no more than its page, however long the text is', () => {
    const text = 'Grüße, 😀 and more of this. '.repeat(300_000);
    const intent = answered(text);
    const best = (run: () => unknown) =>
      Math.min(
        ...Array.from({ length: 5 }, () => {
          const began = performance.now();
          run();
          return performance.now() - began;
        }),
      );
    const native = best(() => JSON.stringify(text));
    const total = [...text].length;
    expect(best(() => expect(pageOf(intent, {}).total).toBe(total))).toBeLessThan(4 * native);
    const last = () =>
      expect(pageOf(intent, { cursor: String(total - 10) }).data).toBe([...text.slice(-40)].slice(-10).join(''));
    expect(best(last)).toBeLessThan(4 * native);
  });

  test('of a text ends between characters', () => {
    const text = '😀€x'.repeat(200);
    const read = pages(answered(text, { maxBytes: 256 }));
    expect(read.map(({ data }) => data).join('')).toBe(text);
    for (const { data } of read) {
      expect(jsonBytes(data)).toBeLessThanOrEqual(256);
      expect(data).not.toMatch(/\p{Cs}/u);
    }
  });

  test('never says more than a result may, and all pages together say everything', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(fc.jsonValue(), { maxLength: 60 }),
          fc.dictionary(fc.string(), fc.jsonValue()),
          fc.string({ unit: 'binary', maxLength: 900 }),
        ),
        fc.integer({ min: 1, max: 30 }),
        (value, limit) => {
          const data = JSON.parse(JSON.stringify(value)) as Json;
          const read = pages(answered(data, { maxBytes: 256 }), { limit });
          for (const page of read) expect(jsonBytes(page.data)).toBeLessThanOrEqual(256);
          const told = new Map(read.flatMap(({ omitted }) => omitted.map(({ pointer }) => [pointer, true] as const)));
          if (typeof data === 'string') expect(read.map((page) => page.data).join('')).toBe(data);
          else if (Array.isArray(data)) {
            const items = read.flatMap((page) => page.data as Json[]);
            expect(items).toEqual(data.map((item, at) => (told.has(`/${at}`) ? null : item)));
          } else {
            const members = Object.assign({}, ...read.map((page) => page.data)) as object;
            expect(Object.keys(members).length + told.size).toBe(Object.keys(data as object).length);
          }
        },
      ),
    );
  });
});
