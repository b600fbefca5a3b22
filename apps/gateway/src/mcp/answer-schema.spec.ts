import type { JsonObject } from '@intendant/intent';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerSchema } from './answer-schema.js';

const ajv = new Ajv2020({ strict: false });
formats.default(ajv);
function validator(schema: JsonObject) {
  const validate = ajv.compile(schema);
  ajv.removeSchema(schema);
  return validate;
}
const answer = { intentId: 'i', status: 'committed', outcome: 'executed', replayed: false, summary: null, error: null };
const holds = (schema: JsonObject, data: unknown) => validator(answerSchema(schema))({ ...answer, data });

describe('the schema of an answer', () => {
  const data = {
    type: 'object',
    required: ['total'],
    properties: { total: { $ref: '#/$defs/money' }, next: { $ref: '#' } },
    $defs: { money: { type: 'integer', maximum: 1_000 } },
  };

  it('holds for answers with data, with none, and for refusals', () => {
    const validate = validator(answerSchema(data));
    expect(validate({ ...answer, data: { total: 1, next: { total: 2 } } })).toBe(true);
    const unknown = { ...answer, status: 'unknown', outcome: 'unknown', data: null, error: { code: 'x' } };
    expect(validate(unknown)).toBe(true);
    expect(validate({ error: { code: 'invalid_arguments' } })).toBe(true);
  });

  it('keeps what the schema of the data refers to where it was', () => {
    expect(holds(data, { total: 'many' })).toBe(false);
    expect(holds(data, { total: 1, next: { total: 'many' } })).toBe(false);
  });

  it('is made once for each schema', () => {
    expect(answerSchema(data)).toBe(answerSchema(data));
  });

  it('keeps fields of any name, and what it can', () => {
    const strict = {
      type: 'object',
      required: ['card', 'items', 'pattern'],
      properties: {
        card: { type: 'string', pattern: '^[0-9]{16}$', maxLength: 16 },
        items: { type: 'array', minItems: 3, items: { type: 'integer' } },
        pattern: { type: 'boolean' },
        not: { type: 'boolean' },
        kind: { enum: ['a', 'b'] },
      },
    };
    expect(holds(strict, { card: '[redacted]', items: [1], pattern: true })).toBe(true);
    expect(holds(strict, { card: '[redacted]', items: [true], pattern: true })).toBe(false);
    expect(holds(strict, { card: '[redacted]', items: [1], pattern: 'a' })).toBe(false);
    expect(holds(strict, { card: '[redacted]', items: [1], pattern: true, not: 1 })).toBe(false);
    expect(holds(strict, { card: '[redacted]', items: [1], pattern: true, kind: 'c' })).toBe(false);
    const branches = [{ properties: { kind: { const: 'a' } } }, { properties: { kind: { const: 'b' } } }];
    expect(holds({ type: 'object', required: ['kind'], oneOf: branches }, { kind: 'c' })).toBe(false);
  });
});

const text = (pattern: string) => ({ type: 'string', pattern });
const of = (ref: object, more: object = {}) => ({ type: 'object', properties: { ref }, ...more }) as JsonObject;

describe('a success fits', () => {
  it.each<[string, JsonObject, unknown]>([
    ['one of two patterns', of({ oneOf: [text('^ord_'), text('^inv_')] }), { ref: 'ord_1' }],
    [
      'one of two, referred to',
      of({ oneOf: [{ $ref: '#/$defs/o' }, text('^i')] }, { $defs: { o: text('^o') } }),
      { ref: 'o' },
    ],
    [
      'one of two, beside any of two',
      of({ oneOf: [text('^a'), text('^b')], anyOf: [text('z$'), text('y$')] }),
      { ref: 'az' },
    ],
    ['not a pattern', of({ type: 'string', not: { pattern: '^test' } }), { ref: 'live' }],
    ['a condition', of({ if: text('^a'), then: { maxLength: 1 }, else: { const: 'b' } }), { ref: 'b' }],
    [
      'a condition on a name',
      of({}, { if: { required: ['ref'] }, then: { properties: { ref: text('^a') } } }),
      { ref: 'a' },
    ],
    ['a constant with a name of a keyword', of({ const: { format: 'pdf' } }), { ref: { format: 'pdf' } }],
    [
      'one of values with names of keywords',
      of({ enum: [{ not: { pattern: 'a' } }, 1] }),
      { ref: { not: { pattern: 'a' } } },
    ],
    [
      'what is evaluated by what is dropped',
      of({}, { if: { properties: { a: text('^b') } }, then: { required: ['a'] }, unevaluatedProperties: false }),
      { ref: 'x', a: 'b' },
    ],
    [
      'items that are evaluated by contains',
      of({ type: 'array', contains: text('^a'), unevaluatedItems: false }),
      { ref: ['a'] },
    ],
    [
      'a list of which each place has its own kind',
      of({ prefixItems: [text('^a')], items: { type: 'integer' } }),
      { ref: ['a', 1] },
    ],
    ['how many there are of a kind', of({ contains: text('^a'), minContains: 0, maxContains: 1 }), { ref: ['b', 'c'] }],
    [
      'what depends on a name',
      of({}, { dependentSchemas: { ref: { properties: { a: { not: text('^x') } } } } }),
      { ref: 1, a: 'y' },
    ],
    ['an anchor', of({ $ref: '#here' }, { $defs: { it: { $anchor: 'here', type: 'boolean' } } }), { ref: true }],
    [
      'a reference into what is dropped',
      of(
        { not: { type: 'null' } },
        { properties: { ref: {}, a: { $ref: '#/properties/b/not' }, b: { not: { type: 'string' } } } },
      ),
      { a: 'x', b: 1 },
    ],
    [
      'a reference into one of two',
      of(
        {},
        { properties: { a: { $ref: '#/properties/b/oneOf/0' }, b: { oneOf: [{ type: 'string' }, { type: 'null' }] } } },
      ),
      { a: 'x', b: null },
    ],
    [
      'a schema with a name of its own',
      { $id: 'https://a.example/x', $defs: { a: { type: 'string' } }, ...of({ $ref: '#/$defs/a' }) },
      { ref: 'x' },
    ],
    [
      'a schema of a stated dialect',
      { $schema: 'https://json-schema.org/draft/2020-12/schema', ...of({ type: 'string' }) },
      { ref: 'x' },
    ],
    [
      'names by pattern',
      of({}, { properties: {}, patternProperties: { '^[0-9]+$': { type: 'boolean' } }, additionalProperties: false }),
      { '12': true },
    ],
  ])('%s', (_, schema, data) => {
    expect(validator(schema)(data), 'as it came').toBe(true);
    expect(holds(schema, data)).toBe(true);
  });

  it.each<[string, JsonObject, unknown]>([
    ['a text', of({ type: 'string', minLength: 12, format: 'uri' }), { ref: '[redacted]' }],
    ['one of two kinds of text', of({ oneOf: [text('^ord_'), text('^inv_')] }), { ref: '[redacted]' }],
    ['a number that looks like that of a card', of({ type: 'integer', minimum: 1 }), { ref: '[redacted]' }],
    [
      'such a number among others',
      of({ type: 'array', items: { type: ['number', 'null'] } }),
      { ref: [1, '[redacted]', null] },
    ],
    [
      'a name',
      of({}, { patternProperties: { '^[0-9]+$': { type: 'boolean' } }, additionalProperties: false, minProperties: 2 }),
      { '[redacted]': true },
    ],
    [
      'texts that were different',
      of({ type: 'array', uniqueItems: true, items: text('x') }),
      { ref: ['[redacted]', '[redacted]'] },
    ],
  ])('with %s hidden', (_, schema, data) => {
    expect(holds(schema, data)).toBe(true);
  });

  it('with a list shortened', () => {
    const list = {
      type: 'array',
      minItems: 3,
      contains: { const: 9 },
      prefixItems: [{ const: 1 }],
      items: { type: 'integer' },
    };
    expect(holds(of(list), { ref: [1, 2, 9] })).toBe(true);
    expect(holds(of(list), { ref: [1, 2] })).toBe(true);
  });

  it('whatever keywords its schema combines', () => {
    const scalar = fc.constantFrom<unknown>('a', 'ab', 'b', '', 1, 2, 3.5, true, null);
    const values = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        scalar,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'not', 'format'), tie('value'), { maxKeys: 3, noNullPrototype: true }),
      ),
    })).value;
    const names = fc.constantFrom('a', 'b', 'not', 'format');
    const { schema } = fc.letrec((tie) => {
      const inner = tie('schema');
      const some = fc.array(inner, { minLength: 1, maxLength: 3 });
      const keywords = {
        type: fc.constantFrom('string', 'integer', 'array', 'object', ['string', 'null'], ['number', 'boolean']),
        const: values,
        enum: fc.array(values, { minLength: 1, maxLength: 3 }),
        pattern: fc.constantFrom('^a', 'b$'),
        minLength: fc.nat(2),
        maxLength: fc.nat(2),
        format: fc.constantFrom('email', 'date'),
        minimum: fc.nat(3),
        minItems: fc.nat(2),
        maxItems: fc.nat(2),
        uniqueItems: fc.boolean(),
        minProperties: fc.nat(2),
        required: fc.uniqueArray(names, { maxLength: 2 }),
        properties: fc.dictionary(names, inner, { maxKeys: 2, noNullPrototype: true }),
        patternProperties: fc.dictionary(fc.constantFrom('^a', 'o'), inner, { maxKeys: 1, noNullPrototype: true }),
        additionalProperties: fc.oneof(fc.boolean(), inner),
        unevaluatedProperties: fc.oneof(fc.boolean(), inner),
        propertyNames: inner,
        dependentSchemas: fc.dictionary(names, inner, { maxKeys: 1, noNullPrototype: true }),
        items: inner,
        prefixItems: some,
        unevaluatedItems: fc.oneof(fc.boolean(), inner),
        contains: inner,
        not: inner,
        if: inner,
        then: inner,
        else: inner,
        allOf: some,
        anyOf: some,
        oneOf: some,
        $ref: fc.constantFrom('#', '#/$defs/a', '#/$defs/b'),
      };
      const some3 = fc.uniqueArray(fc.constantFrom(...(Object.keys(keywords) as (keyof typeof keywords)[])), {
        maxLength: 3,
      });
      return {
        schema: fc.oneof(
          { maxDepth: 3, withCrossShrink: true },
          fc.constant({}),
          some3.chain((chosen) =>
            fc.record(Object.fromEntries(chosen.map((each) => [each, keywords[each]])), { noNullPrototype: true }),
          ),
        ),
      };
    });
    const whole = fc
      .record({ inner: schema, a: schema, b: schema })
      .map(({ inner, a, b }) => ({ ...(inner as object), $defs: { a, b } }) as JsonObject);
    let successes = 0;
    fc.assert(
      fc.property(whole, fc.array(values, { minLength: 10, maxLength: 10 }), (it, all) => {
        // References in a circle never end.
        const fits = attempt(() => validator(it));
        const shown = attempt(() => validator(answerSchema(it)));
        for (const data of all) {
          if (fits === null || attempt(() => fits(data)) !== true) continue;
          successes += 1;
          expect(shown && attempt(() => shown({ ...answer, data })), JSON.stringify({ it, data })).not.toBe(false);
        }
      }),
      { numRuns: 150 },
    );
    expect(successes).toBeGreaterThan(50);
  });
});

function attempt<T>(run: () => T): T | null {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
