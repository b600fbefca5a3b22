import { CelScalar, type CelValue, celEnv, celFunc, listType } from '@bufbuild/cel';
import { longestNumber } from './limits.js';
import { matcherOf } from './pattern.js';

const { DOUBLE, DYN, INT, STRING } = CelScalar;
const numbers = listType(DYN);

const mixed = (name: string, run: (a: number, b: number) => number) => [
  celFunc(name, [INT, DOUBLE], DOUBLE, (a, b) => run(Number(a), b)),
  celFunc(name, [DOUBLE, INT], DOUBLE, (a, b) => run(a, Number(b))),
];

/** The functions of the library, with those that are added and set right. Nothing in it has limits. */
export const library = celEnv({
  re2: { compile: matcherOf },
  funcs: [
    // CEL itself has no arithmetic between int and double. Here a field of JSON would change its type with its value.
    ...mixed('_+_', (a, b) => a + b),
    ...mixed('_-_', (a, b) => a - b),
    ...mixed('_*_', (a, b) => a * b),
    ...mixed('_/_', (a, b) => a / b),
    // The library's own read '' as 0, and '0x10' as 16.
    celFunc('int', [STRING], INT, (text) => BigInt(numeral(text, /^-?\d{1,18}$/, 'an integer'))),
    celFunc('double', [STRING], DOUBLE, (text) =>
      Number(numeral(text, /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/, 'a number')),
    ),
    celFunc('sum', [numbers], DYN, (list) => sum(list)),
  ],
});

function numeral(text: string, form: RegExp, what: string): string {
  if (text.length > longestNumber || !form.test(text)) throw new Error(`the text is not ${what}`);
  return text;
}

/** Of ints an int, else a double; an int beyond 64 bits is an error, as for `+`. */
function sum(list: Iterable<CelValue>): bigint | number {
  let whole = 0n;
  let broken: number | null = null;
  for (const item of list) {
    if (typeof item === 'bigint') whole += item;
    else if (typeof item === 'number') broken = (broken ?? 0) + item;
    else throw new Error('sum takes a list of numbers');
  }
  if (broken !== null) return broken + Number(whole);
  if (BigInt.asIntN(64, whole) !== whole) throw new Error('int overflow in sum');
  return whole;
}
