import formats from 'ajv-formats';
import { formatNames } from 'ajv-formats/dist/formats.js';
import { describe, expect, test } from 'vitest';
import { compileSchema } from './compile-schema.js';
import { linearPattern, patternMistake } from './linear-pattern.js';

/** Milliseconds of the fastest of three runs, which noise can only make slower. */
function time(run: () => unknown): number {
  return Math.min(
    ...[1, 2, 3].map(() => {
      const start = performance.now();
      run();
      return performance.now() - start;
    }),
  );
}

/** How many times longer the longer text takes; times that are lost in noise count as one. */
function growth(check: (text: string) => unknown, text: (length: number) => string, from = 4000, to = 32_000): number {
  const [short, long] = [text(from), text(to)];
  check(long);
  return (
    Math.max(
      time(() => check(long)),
      2,
    ) /
    Math.max(
      time(() => check(short)),
      2,
    )
  );
}

describe('matching takes time in proportion to the text', () => {
  test.each([
    ['a pattern', { type: 'string', pattern: '^(a+)+$' }, (text: string) => text],
    ['a pattern of alternatives', { type: 'string', pattern: '^(a|a?)+$' }, (text: string) => text],
    ['names', { type: 'object', patternProperties: { '^(a+)+$': false } }, (text: string) => ({ [text]: 1 })],
  ])('for %s', (_, schema, value) => {
    const validate = compileSchema({ ...schema });
    const check = (text: string): boolean => validate(value(text));
    const text = (length: number): string => `${'a'.repeat(length)}!`;
    // What takes exponential time shows here already, instead of never coming back.
    expect(growth(check, text, 3, 24)).toBeLessThan(16);
    expect(growth(check, text)).toBeLessThan(32);
  });

  test.each(formatNames.filter((name) => formats.default.get(name) !== undefined))('for the format %s', (format) => {
    const type = /^(?:u?int|float|double)/.test(format) ? 'number' : 'string';
    const validate = compileSchema({ type, format });
    for (const start of ['', 'http://', 'P', 'a@', '{a', '2020-01-01T00:00:00.']) {
      for (const unit of ['a', 'a.', 'a-', ':', ':@', '::', '0', '/', '%41', '(', '{', 'AAAA\n']) {
        const text = (length: number): string => `${start}${unit.repeat(length / unit.length)}\0`;
        expect(growth(validate, text), `${start}${unit}…`).toBeLessThan(32);
      }
    }
  });
});

describe('a pattern means what it means in ECMA-262', () => {
  test.each([
    ['^ord_[A-Za-z0-9]+$', 'ord_1', 'ord_1\n'],
    ['b', 'abc', 'ac'],
    ['^\\u0061\\x62\\cA?$', 'ab', 'abb'],
    ['^(?<year>\\d{4})-\\d{2}$', '2020-01', '20-01'],
    ['^\\p{L}+$', 'é', '1'],
    ['^.$', '😀', '😀😀'],
    ['^[\\w\\-/]+\\/$', 'a-/', 'a-'],
    ['^[^]$', '\n', 'ab'],
    ['\\\\k$', '\\k', 'k'],
  ])('%s', (pattern, right, wrong) => {
    for (const engine of [linearPattern(pattern), new RegExp(pattern, 'u')]) {
      expect([engine.test(right), engine.test(wrong)]).toEqual([true, false]);
    }
  });

  test('or is refused', () => {
    for (const pattern of ['(?=a)', '(?!a)', '(?<=a)b', '(?<!a)b', '(a)\\1', '(?<n>a)\\k<n>', 'a{1001}']) {
      expect(patternMistake(pattern), pattern).toMatch(/^cannot be matched in linear time: /);
    }
  });
});

test('the format url takes what ajv-formats takes, up to 2048 characters', () => {
  const validate = compileSchema({ type: 'string', format: 'url' });
  const url = (length: number): string => 'https://example.com/'.padEnd(length, 'a');
  expect([url(30), url(2048), url(2049), 'no url', 'http://localhost'].map((text) => validate(text))).toEqual([
    ...[true, true, false, false, false],
  ]);
});
