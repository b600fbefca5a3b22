import { Refusal } from '@intendant/contracts';
import type { Json } from '@intendant/intent';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { largestMessage } from './message-text.js';
import { readToolIntent } from './tool-intent.js';

const encoder = new TextEncoder();

function bytes(text: string): Uint8Array {
  return encoder.encode(text);
}

function refusalOf(payload: unknown): Refusal {
  try {
    readToolIntent(payload);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('the message was read');
}

/** `pointer: expected, got` of every problem. */
function problemsOf(payload: unknown): string[] {
  const { error } = refusalOf(payload);
  expect(error.code).toBe('invalid_message');
  const problems = error.details['problems'] as { pointer: string; expected: string; got: string }[];
  return problems.map(({ pointer, expected, got }) => `${pointer}: ${expected}, got ${got}`);
}

function withArgs(args: string): Uint8Array {
  return bytes(`{"tool": "orders.get", "args": ${args}}`);
}

describe('a good message', () => {
  test('is read from bytes', () => {
    const text = '{"tool":"orders.get","args":{"order_id":"ord_1"},"stepId":"s3","toolVersion":2,"sandbox":true}';
    expect(readToolIntent(bytes(text))).toEqual({
      tool: 'orders.get',
      args: { order_id: 'ord_1' },
      stepId: 's3',
      toolVersion: 2,
      sandbox: true,
    });
  });

  test('needs only tool and args', () => {
    const expected = { tool: 'orders.get', args: {}, stepId: null, toolVersion: null, sandbox: false };
    expect(readToolIntent(withArgs('{}'))).toEqual(expected);
    expect(readToolIntent({ tool: 'orders.get', args: {}, stepId: null, toolVersion: null })).toEqual(expected);
  });

  test('may begin with a byte order mark and carry any text', () => {
    const text = '\ufeff{"tool":"orders.get","args":{"a":"\\ud83d\\ude00 \\\\u0000 😀 \\"{[,:"}}';
    expect(readToolIntent(bytes(text)).args).toEqual({ a: '😀 \\u0000 😀 "{[,:' });
  });

  test('gives the arguments back, whatever they are', () => {
    const name = fc.string({ unit: 'grapheme', maxLength: 6 });
    const { args } = fc.letrec<{ value: Json; args: { [key: string]: Json } }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.oneof(
          fc.string({ unit: 'grapheme' }),
          fc.maxSafeInteger(),
          fc.double({ noNaN: true, noDefaultInfinity: true, maxExcluded: true, min: -1, max: 1 }),
          fc.constantFrom(true, false, null, 1e300, '\\', '"', '\u2028', '\\u0000'),
        ),
        fc.array(tie('value'), { maxLength: 4 }),
        tie('args'),
      ),
      args: fc.dictionary(name, tie('value'), { maxKeys: 5, noNullPrototype: true }),
    }));
    fc.assert(
      fc.property(args, fc.constantFrom(0, 2, '\t'), (args, indent) => {
        const text = JSON.stringify({ tool: 'orders.get', args }, null, indent);
        const expected: unknown = JSON.parse(JSON.stringify(args));
        expect(readToolIntent(bytes(text)).args).toEqual(expected);
        expect(readToolIntent({ tool: 'orders.get', args }).args).toEqual(expected);
      }),
    );
  });
});

describe('a message of the wrong shape', () => {
  test('lists every problem at once', () => {
    const text = '{"tool":"Refund","args":[],"stepId":"a b","toolVersion":0,"sandbox":"no","extra":1}';
    expect(problemsOf(bytes(text))).toEqual([
      '/tool: the name of a tool: lower-case words joined by dots, such as payments.refund.create, 64 characters at most, got the string "Refund"',
      "/args: an object with the tool's arguments, got an array of 0 items",
      '/stepId: a string of 1 to 128 printable ASCII characters without spaces, got the string "a b"',
      '/toolVersion: a whole number, 1 or more, got the number 0',
      '/sandbox: true or false, got the string "no"',
      '/extra: no other fields than the allowed ones, got "extra"',
    ]);
  });

  test.each([
    ['step_id', 'no field of this name (did you mean stepId?)'],
    ['arguments', 'no other fields than the allowed ones'],
    ['tenant', 'no field of this name: identity, keys and approval come from the run token'],
    ['idempotencyKey', 'no field of this name: identity, keys and approval come from the run token'],
  ])('is told about the unknown field %s', (name, expected) => {
    expect(problemsOf({ tool: 'orders.get', args: {}, [name]: 'x' })).toEqual([`/${name}: ${expected}, got "${name}"`]);
  });

  test('says in its message what was wrong first, how much more, and that nothing was recorded', () => {
    const { error } = refusalOf({ args: {}, sandbox: 1 });
    expect(error.message).toMatch(
      /^The message is not a ToolIntent at \/tool: expected .*, got nothing \(and 1 more\)\. Nothing was recorded/,
    );
    expect(error).toMatchObject({ category: 'validation', retryable: false, nextAction: 'fix_arguments' });
  });

  test.each([
    ['no JSON', bytes('{"tool": orders}'), /^: JSON, got text that is none \(/],
    ['half a message', bytes('{"tool": "orders.get", "args": {"a": "'), /^: JSON, got /],
    ['nothing', bytes(''), /^: JSON, got /],
    ['a number', bytes('7'), /^: a JSON object, got the number 7$/],
    ['a string', 'orders.get', /^: a JSON object, got the string "orders.get"$/],
    ['undefined', undefined, /^: a JSON object, got nothing$/],
    ['an array', [], /^: a JSON object, got an array of 0 items$/],
    ['bytes that are not UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d), /^: JSON in UTF-8, got bytes that are not UTF-8$/],
    ['a surrogate in UTF-8', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), /^: JSON in UTF-8/],
    ['a bigint', { tool: 'orders.get', args: { a: 1n } }, /^: plain JSON data/],
  ])('is refused: %s', (_, payload, expected) => {
    expect(problemsOf(payload)).toEqual([expect.stringMatching(expected)]);
  });
});

describe('a hostile message', () => {
  test('may have 256 KiB and not one byte more', () => {
    const frame = withArgs('{"a":""}').byteLength;
    expect(readToolIntent(withArgs(`{"a":"${'x'.repeat(largestMessage - frame)}"}`)).tool).toBe('orders.get');
    const over = withArgs(`{"a":"${'x'.repeat(largestMessage - frame + 1)}"}`);
    expect(problemsOf(over)).toEqual([`: at most 262144 bytes, got 262145 bytes`]);
    expect(problemsOf({ tool: 'orders.get', args: { a: 'é'.repeat(largestMessage / 2) } })).toEqual([
      expect.stringMatching(/^: at most 262144 bytes, got \d+ bytes$/),
    ]);
  });

  test.each([65, 1000, 100_000])('of depth %i is refused without exhausting the stack', (depth) => {
    expect(problemsOf(withArgs('['.repeat(depth) + ']'.repeat(depth)))).toEqual([
      expect.stringMatching(/^\/args(\/0)+: at most 64 levels of nesting, got more$/),
    ]);
    let value: unknown = {};
    for (let level = 0; level < depth; level += 1) value = { a: value };
    expect(problemsOf({ tool: 'orders.get', args: value })).toEqual([
      expect.stringMatching(/: at most (64 levels of nesting|262144 bytes), got /),
    ]);
  });

  test('may nest 64 levels', () => {
    const args = `${'{"a":'.repeat(62)}[]${'}'.repeat(62)}`;
    expect(readToolIntent(withArgs(args)).tool).toBe('orders.get');
    expect(problemsOf(withArgs(`{"a":${args}}`))).toHaveLength(1);
  });

  test.each([
    ['{"a": {"b": ["x", "\\u0000"]}}', '/args/a/b/1: text without NUL (U+0000), got a NUL'],
    ['{"a\\u0000": 1}', '/args/a\0: text without NUL (U+0000), got a NUL in a name'],
    ['{"a": "\\ud800"}', '/args/a: well-formed Unicode text, got half a surrogate pair'],
    ['{"a": "\\ude00\\ud83d"}', '/args/a: well-formed Unicode text, got half a surrogate pair'],
    [
      '{"a": 9007199254740992}',
      '/args/a: an integer between -(2^53 - 1) and 2^53 - 1, or a string, got 9007199254740992',
    ],
    [
      '{"a": [-9007199254740993]}',
      '/args/a/0: an integer between -(2^53 - 1) and 2^53 - 1, or a string, got -9007199254740993',
    ],
    [
      '{"a": 9007199254740993.0}',
      '/args/a: an integer between -(2^53 - 1) and 2^53 - 1, or a string, got 9007199254740993.0',
    ],
    ['{"a": 1e400}', '/args/a: a number that fits into double precision, got 1e400'],
    ['{"a": -1E999}', '/args/a: a number that fits into double precision, got -1E999'],
    [`{"a": 1${'0'.repeat(400)}}`, '/args/a: a number that fits into double precision, got a number of 401 characters'],
    ['{"a": 1, "b": {"a": 1}, "a": 2}', '/args/a: the name "a" only once in its object, got it twice'],
    ['{"a": 1, "\\u0061": 2}', '/args/a: the name "a" only once in its object, got it twice'],
    ['{"a/b~": {"x": 1, "x": 1}}', '/args/a~1b~0/x: the name "x" only once in its object, got it twice'],
    ['{"a": [{"__proto__": {}}]}', '/args/a/0/__proto__: no field of this name, got "__proto__"'],
    ['{"\\u005f_proto__": {}}', '/args/__proto__: no field of this name, got "__proto__"'],
    ['{"constructor": 1}', '/args/constructor: no field of this name, got "constructor"'],
    ['{"prototype": 1}', '/args/prototype: no field of this name, got "prototype"'],
  ])('with %s in it is refused, with the place', (args, expected) => {
    expect(problemsOf(withArgs(args))).toEqual([expected]);
  });

  test('that was parsed already is looked at in the same way', () => {
    const message = (args: string): unknown => ({ tool: 'orders.get', args: JSON.parse(args) as unknown });
    expect(problemsOf(message('{"a": "\\u0000"}'))).toEqual([expect.stringMatching(/^\/args\/a: text without NUL/)]);
    expect(problemsOf(message('{"a": "\\udfff"}'))).toEqual([expect.stringMatching(/^\/args\/a: well-formed/)]);
    expect(problemsOf(message('{"a": 9007199254740993}'))).toEqual([expect.stringMatching(/^\/args\/a: an integer/)]);
    expect(problemsOf(message('{"a": 1e400}'))).toEqual([expect.stringMatching(/^: numbers that fit/)]);
    expect(problemsOf(message('{"__proto__": 1}'))).toEqual([expect.stringMatching(/^\/args\/__proto__: no field/)]);
  });

  test('may use the largest integers and any fraction', () => {
    const args = '{"a": 9007199254740991, "b": -9007199254740991, "c": 0.12345678901234567890, "d": 1e300, "e": -0}';
    expect(readToolIntent(withArgs(args)).args).toMatchObject({ a: Number.MAX_SAFE_INTEGER, d: 1e300 });
  });

  test('gets a bounded list of problems', () => {
    const args = `{${Array.from({ length: 5000 }, () => '"a":1').join(',')}}`;
    expect(problemsOf(withArgs(args))).toHaveLength(100);
  });

  test('of any bytes at all is read or refused, never anything else', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      '\\',
      ':',
      ',',
      '1',
      '-',
      'e',
      '\\u',
      'd800',
      'true',
      ' ',
      '"args":{',
    );
    const text = fc.array(pieces, { maxLength: 40 }).map((parts) => bytes(`{"tool":"a.b",${parts.join('')}}`));
    fc.assert(
      fc.property(fc.oneof(text, fc.uint8Array({ maxLength: 60 })), (payload) => {
        try {
          readToolIntent(payload);
        } catch (error) {
          expect(error).toBeInstanceOf(Refusal);
        }
      }),
      { numRuns: 500 },
    );
  });
});
