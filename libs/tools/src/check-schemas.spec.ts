import { describe, expect, test } from 'vitest';
import { type Edit, problemsOf, report } from './refund-tool.spec-helper.js';

const order = 'order_id: { type: string, pattern: "^ord_[A-Za-z0-9]+$" }';
const closed = 'must be false, so that only the properties that are listed get in';

/** Replaces the first property of the input by another schema. */
function withOrder(schema: string): Edit {
  return [order, `order_id: ${schema}`];
}

describe('the input schema', () => {
  test.each<[string, Edit, unknown]>([
    ['must be an object', ['  type: object\n', '  type: array\n'], '11 input.type: wrong or missing; must be object'],
    ['must say that it is an object', ['  type: object\n', ''], '10 input.type: wrong or missing; must be object'],
    ['must be closed', ['  additionalProperties: false\n', ''], `10 input.additionalProperties: ${closed}`],
    [
      'must not be open on purpose',
      ['additionalProperties: false', 'additionalProperties: true'],
      `12 input.additionalProperties: ${closed}`,
    ],
    [
      'must list what it requires',
      ['required: [order_id, amount_cents]', 'required: [order_id, amount]'],
      '13 input.required.1: amount is not among the properties; add it there',
    ],
    [
      'must be closed in older definitions',
      ['input:\n', 'input:\n  definitions: { a: { type: object, properties: { b: { type: string } } } }\n'],
      `11 input.definitions.a.additionalProperties: ${closed}`,
    ],
    [
      'must be closed in objects inside',
      withOrder('{ type: object, properties: { a: { type: string } } }'),
      `15 input.properties.order_id.additionalProperties: ${closed}`,
    ],
    [
      'must be closed in items of arrays',
      withOrder('{ type: array, items: { type: object, properties: { a: { type: string } } } }'),
      `15 input.properties.order_id.items.additionalProperties: ${closed}`,
    ],
    [
      'must be closed in alternatives',
      withOrder('{ oneOf: [{ type: object, properties: { a: { type: string } } }] }'),
      `15 input.properties.order_id.oneOf.0.additionalProperties: ${closed}`,
    ],
    [
      'must use known keywords',
      withOrder('{ type: string, maxLenght: 3 }'),
      '15 input.properties.order_id.maxLenght: unknown keyword; did you mean maxLength?',
    ],
    [
      'must use known types',
      withOrder('{ type: text }'),
      '15 input.properties.order_id.type: is the string "text"; must be one of "array", "boolean", "integer", "null", "number", "object", "string"',
    ],
    [
      'must not look ahead in a pattern',
      withOrder('{ type: string, pattern: "^(?=a)b" }'),
      '15 input.properties.order_id.pattern: cannot be matched in linear time: invalid or unsupported Perl syntax: `(?=`; must be RE2 syntax, without looking ahead or behind, back references and counts over 1000',
    ],
    [
      'must not refer back in a pattern',
      withOrder('{ type: string, pattern: "^(?<q>.)a\\\\k<q>$" }'),
      '15 input.properties.order_id.pattern: cannot be matched in linear time: refers back (`\\k`); must be RE2 syntax, without looking ahead or behind, back references and counts over 1000',
    ],
    [
      'must not look behind in a pattern of names',
      withOrder('{ type: object, patternProperties: { "(?<!a)b": true } }'),
      expect.stringMatching(
        /^15 input\.properties\.order_id\.patternProperties\.\(\?<!a\)b: cannot be matched in linear/,
      ),
    ],
    [
      'must leave room between its bounds',
      withOrder('{ type: integer, minimum: 5, maximum: 3 }'),
      '15 input.properties.order_id.minimum: is 5 and maximum is 3, so that nothing fits; must be below it',
    ],
    [
      'must leave room between its lengths',
      withOrder('{ type: array, items: { type: string, minLength: 2, maxLength: 1 } }'),
      '15 input.properties.order_id.items.minLength: is 2 and maxLength is 1, so that nothing fits; must be below it',
    ],
    [
      'must leave room between open bounds',
      withOrder('{ type: integer, exclusiveMinimum: 5, maximum: 5 }'),
      '15 input.properties.order_id.exclusiveMinimum: is 5 and maximum is 5, so that nothing fits; must be below it',
    ],
    [
      'must not take an id of its own',
      withOrder('{ $id: "urn:x", type: string }'),
      '15 input.properties.order_id.$id: unknown keyword; must be one of JSON Schema 2020-12',
    ],
    [
      'must not be asynchronous',
      withOrder('{ $async: true, type: string }'),
      '15 input.properties.order_id.$async: unknown keyword; must be one of JSON Schema 2020-12',
    ],
  ])('%s', (_, edit, expected) => {
    expect(report(edit)).toContainEqual(expected);
  });

  test.each<[string, Edit]>([
    ['an unknown format', withOrder('{ type: string, format: telephone }')],
    ['a pattern that does not compile', withOrder('{ type: string, pattern: "(" }')],
    ['a reference to nothing', withOrder('{ $ref: "#/$defs/order" }')],
    ['a reference to an anchor that is not there', withOrder('{ $ref: "#order" }')],
    ['another dialect', ['input:\n', 'input:\n  $schema: http://json-schema.org/draft-07/schema#\n']],
  ])('is refused with %s', (_, edit) => {
    const problems = problemsOf(edit);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ field: expect.stringMatching(/^input/) });
  });

  test.each(['tenant_id', 'agent_user', 'userId', 'Idempotency-Key', 'approved', 'access_token', 'AGENTUSER'])(
    'must not ask the model for the trusted field %s',
    (name) => {
      expect(report([order, `order_id: { type: string }\n    ${name}: { type: string }`])).toEqual([
        `16 input.properties.${name}: a trusted field is never taken from a model; declare it in inject, where the runtime fills it in`,
      ]);
    },
  );

  test('must not ask for a trusted field inside either', () => {
    const schema = '{ type: object, additionalProperties: false, properties: { role: { type: string } } }';
    expect(report(withOrder(schema))).toEqual([
      expect.stringMatching(/^15 input\.properties\.order_id\.properties\.role: /),
    ]);
  });

  test('must not use a name that no message may carry', () => {
    expect(report([order, 'order_id: { type: string }\n    constructor: { type: string }'])).toEqual([
      '16 input.properties.constructor: no message may carry this name; choose another',
    ]);
  });

  test.each<[string, Edit]>([
    [
      'conditions on its own properties',
      ['input:\n', 'input:\n  anyOf: [{ properties: { reason: { const: duplicate } } }, { required: [reason] }]\n'],
    ],
    [
      'union types and nested closed objects',
      withOrder('{ type: [object, "null"], additionalProperties: false, properties: { a: { type: string } } }'),
    ],
    [
      'alternatives closed as a whole',
      withOrder('{ type: object, unevaluatedProperties: false, oneOf: [{ properties: { a: { type: string } } }] }'),
    ],
    [
      'references to anchors',
      [
        'input:\n',
        'input:\n  $defs: { id: { $anchor: orderId, type: string } }\n  anyOf: [{ $ref: "#orderId" }, {}]\n',
      ],
    ],
    ['bounds that meet', withOrder('{ type: integer, minimum: 5, maximum: 5 }')],
    ['maps of values', withOrder('{ type: object, additionalProperties: { type: string } }')],
    [
      'shared definitions',
      ['input:\n', 'input:\n  $defs: { id: { type: string, format: uuid, description: An id., examples: [x] } }\n'],
    ],
  ])('may have %s', (_, edit) => {
    expect(report(edit)).toEqual([]);
  });
});

test('a mistake in the output schema is reported too', () => {
  expect(report(['refund_id: { type: string } }', 'refund_id: { typ: string } }'])).toEqual([
    '18 output.properties.refund_id.typ: unknown keyword; did you mean type?',
  ]);
});

test('a pattern that is slow to match is refused in the output schema too', () => {
  expect(report(['refund_id: { type: string } }', 'refund_id: { type: string, pattern: "(.)\\\\1" } }'])).toEqual([
    expect.stringMatching(/^18 output\.properties\.refund_id\.pattern: cannot be matched in linear time/),
  ]);
});
