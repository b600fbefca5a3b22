import { describe, expect, test } from 'vitest';
import { evaluate } from './expression.js';
import { LinearRegExp } from './linear-reg-exp.js';

describe('the patterns of an expression', () => {
  test('cannot be made slow by the text', async () => {
    const time = async (length: number): Promise<number> => {
      const start = performance.now();
      expect(await evaluate('$contains(text, /^(a+)+$/)', { text: `${'a'.repeat(length)}!` }, {})).toBe(false);
      return performance.now() - start;
    };
    const short = Math.max(await time(3), 5);
    // What takes exponential time shows here already, instead of never coming back.
    expect((await time(26)) / short).toBeLessThan(20);
    expect((await time(50_000)) / short).toBeLessThan(200);
  });

  test.each<[string, unknown]>([
    ['$match("ab12cd", /([a-z])(\\d)?/).match', ['a', 'b1', 'c', 'd']],
    ['$match("ab", /(b)/).groups', ['b']],
    ['$match("xay", /A/i).index', 1],
    ['$replace("a-b-c", /-/, "+")', 'a+b+c'],
    ['$replace("John Smith", /(\\w+)\\s(\\w+)/, "$2, $1")', 'Smith, John'],
    ['$split("a, b,c", /,\\s*/)', ['a', 'b', 'c']],
    ['$contains("aaa", /^a$/m)', false],
    ['$match("aaa", /^a/).match', 'a'],
  ])('%s gives what JSONata gives', async (expression, value) => {
    expect(await evaluate(expression, {}, {})).toEqual(value);
  });

  test.each([/a/g, /^a/g, /(b)|(c)/g, /\b/g, /$/g])('%s finds what the native engine finds', (pattern) => {
    for (const text of ['', 'a', 'aab', 'cab\n', '😀a']) {
      for (let at = 0; at <= text.length + 1; at++) {
        const [native, linear] = [new RegExp(pattern), new LinearRegExp(pattern)];
        native.lastIndex = linear.lastIndex = at;
        const expected = native.exec(text);
        const found = linear.exec(text);
        expect(found && [...Object.values(found)], `${text} at ${at}`).toEqual(
          expected && [...expected, expected.index],
        );
        expect(linear.lastIndex).toBe(native.lastIndex);
      }
    }
  });
});
