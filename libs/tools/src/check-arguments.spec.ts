import { describe, expect, test } from 'vitest';
import { refundTool } from './refund-tool.spec-helper.js';
import { createRegistry } from './registry.js';

const tool = refundTool();
const registry = createRegistry([tool]);

/** The refund tool with another schema for its order. */
function withOrder(schema: string) {
  return refundTool(['{ type: string, pattern: "^ord_[A-Za-z0-9]+$" }', schema]);
}

describe('checking arguments', () => {
  test('finds nothing wrong with good ones', () => {
    expect(registry.check(tool, { order_id: 'ord_1', amount_cents: 2499, reason: 'duplicate' })).toEqual([]);
  });

  test('lists every violation with place, expectation, legal values and what was found', () => {
    const args = { ordr_id: 'ord_1', amount_cents: 0, reason: 'because', note: 'x', lines: null };
    expect(registry.check(tool, args)).toEqual([
      { pointer: '/order_id', expected: 'a string (required)', got: 'nothing' },
      {
        pointer: '/ordr_id',
        expected: 'no field of this name (did you mean "order_id"?)',
        allowed: ['order_id', 'amount_cents', 'reason'],
        got: '"ordr_id"',
      },
      {
        pointer: '/note',
        expected: 'no field of this name',
        allowed: ['order_id', 'amount_cents', 'reason'],
        got: '"note"',
      },
      {
        pointer: '/lines',
        expected: 'no field of this name',
        allowed: ['order_id', 'amount_cents', 'reason'],
        got: '"lines"',
      },
      { pointer: '/amount_cents', expected: 'a number that is 1 or more', got: 'the number 0' },
      {
        pointer: '/reason',
        expected: 'one of "duplicate", "fraudulent"',
        allowed: ['duplicate', 'fraudulent'],
        got: 'the string "because"',
      },
    ]);
  });

  test('names the legal values of a required field that is missing', () => {
    const strict = refundTool(['required: [order_id, amount_cents]', 'required: [order_id, reason]']);
    expect(registry.check(strict, { order_id: 'ord_1' })).toEqual([
      {
        pointer: '/reason',
        expected: 'one of "duplicate", "fraudulent" (required)',
        allowed: ['duplicate', 'fraudulent'],
        got: 'nothing',
      },
    ]);
  });

  test('does not find a required field on the prototype of objects', () => {
    const odd = refundTool(
      ['required: [order_id, amount_cents]', 'required: [order_id, toString]'],
      ['reason:', 'toString:'],
    );
    expect(registry.check(odd, { order_id: 'ord_1' })).toMatchObject([{ pointer: '/toString', got: 'nothing' }]);
  });

  test.each<[string, unknown, string, string]>([
    ['{ type: string }', 3, 'a string', 'the number 3'],
    ['{ type: [string, "null"] }', true, 'a string or null', 'true'],
    ['{ type: integer }', 1.5, 'a whole number', 'the number 1.5'],
    ['{ type: boolean }', null, 'true or false', 'null'],
    ['{ type: number, maximum: 5 }', 6, 'a number that is 5 or less', 'the number 6'],
    ['{ type: number, exclusiveMinimum: 0 }', 0, 'a number greater than 0', 'the number 0'],
    ['{ type: number, exclusiveMaximum: 9 }', 9, 'a number less than 9', 'the number 9'],
    ['{ type: number, multipleOf: 5 }', 7, 'a multiple of 5', 'the number 7'],
    ['{ type: string, minLength: 1 }', '', 'a string of at least 1 character', 'the string ""'],
    ['{ type: string, maxLength: 2 }', 'abc', 'a string of at most 2 characters', 'the string "abc"'],
    ['{ type: string, pattern: "^a" }', 'b', 'a string that matches ^a', 'the string "b"'],
    ['{ type: string, format: email }', 'x', 'a string in the format email', 'the string "x"'],
    [
      '{ type: string, maxLength: 2 }',
      'x'.repeat(100),
      'a string of at most 2 characters',
      'a string of 100 characters',
    ],
    ['{ type: array, minItems: 1 }', [], 'an array of at least 1 item', 'an array of 0 items'],
    ['{ type: array, maxItems: 1 }', [1, 2], 'an array of at most 1 item', 'an array of 2 items'],
    [
      '{ type: array, uniqueItems: true }',
      [1, 1],
      'an array without repeated items (items 0 and 1 are equal)',
      'an array of 2 items',
    ],
    ['{ const: 5 }', 'x', 'exactly 5', 'the string "x"'],
    ['{ enum: [5] }', { a: 1 }, 'exactly 5', 'an object'],
    ['{ not: { type: string } }', 'x', 'a value that the schema does not exclude', 'the string "x"'],
    ['{ type: object, minProperties: 2 }', { a: 1 }, 'an object with at least 2 fields', 'an object'],
  ])('says of %s what is expected', (schema, value, expected, got) => {
    const problems = registry.check(withOrder(schema), { order_id: value as never, amount_cents: 1 });
    expect(problems).toMatchObject([{ pointer: '/order_id', expected, got }]);
  });

  test('points into arrays and objects, with escaped names', () => {
    const nested = withOrder(
      '{ type: array, items: { type: object, additionalProperties: false, properties: { "a/b": { type: string } } } }',
    );
    expect(
      registry.check(nested, { order_id: [{}, { 'a/b': 1, 'c~': 1 }], amount_cents: 1 }).map(({ pointer }) => pointer),
    ).toEqual(['/order_id/1/c~0', '/order_id/1/a~1b']);
  });

  test('lists 100 violations and counts the rest', () => {
    const problems = registry.check(withOrder('{ type: array, items: { type: string } }'), {
      order_id: Array.from({ length: 5000 }, (_, n) => n),
      amount_cents: 1,
    });
    expect(problems).toHaveLength(101);
    expect(problems.at(-1)).toEqual({
      pointer: '',
      expected: 'arguments with fewer mistakes',
      got: '4900 more, not listed',
    });
  });
});

describe('checking an output', () => {
  test('accepts a receipt, with fields nobody declared', () => {
    expect(registry.checkOutput(tool, { refund_id: 're_1', extra: true })).toBeNull();
  });

  test.each<[unknown, string]>([
    [{}, '/refund_id: expected a string (required), got nothing'],
    [null, 'the whole answer: expected an object, got null'],
    [{ refund_id: 7 }, '/refund_id: expected a string, got the number 7'],
  ])('says why %j is no receipt', (data, reason) => {
    expect(registry.checkOutput(tool, data as never)).toBe(`the answer does not fit the output schema: ${reason}`);
  });

  test('accepts anything from a tool without an output schema', () => {
    const silent = { ...tool, output: null };
    expect(registry.checkOutput(silent, 'anything')).toBeNull();
  });
});
