import { type ApprovalRules, defaultApproval, type ToolDefinition } from '@intendant/contracts';
import type { Json, JsonObject } from '@intendant/intent';
import { toolAt } from '@intendant/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { gistOf } from './claims.js';

const place = { tenant: 'acme', sandbox: false, runId: 'run_1' };
const tool = (approval: Partial<ApprovalRules> = {}, more: Partial<ToolDefinition> = {}) =>
  toolAt('http://127.0.0.1:1', { tool: { approval: { ...defaultApproval, ...approval }, ...more } });
const byArguments = tool();
const gist = (args: JsonObject, of = byArguments, at: typeof place = place) => gistOf(of, at, args);
const note = (value: Json) => gist({ order: 'ord_1', note: value });

describe('what a refusal is remembered by', () => {
  test.each<[string, Json, Json]>([
    ['case', 'Refund ORD_1', 'refund ord_1'],
    ['the case of letters that are two', 'Straße', 'STRASSE'],
    ['the form of a letter at the end of a word', 'ΟΔΟΣ', 'οδοσ'],
    ['white space', ' two  words\r\n', 'two words'],
    ['other kinds of white space', 'two\u00a0words', 'two\u2003\twords'],
    ['invisible characters', 'or\u200bd_\u2060\ufeff1\u00ad', 'ord_1'],
    ['marks of direction', '\u202eord_1\u202c', 'ord_1'],
    ['tags and fillers', 'ord_1\u{e0041}\u3164', 'ord_1'],
    ['an invisible character within a letter', 'e\u200b\u0301', '\u00e9'],
    ['control characters', 'ord\u0000_1', 'ord_1'],
    ['wide letters and digits', 'ｏｒｄ＿１', 'ord_1'],
    ['marks at the end', 'send it now!', 'Send it now . '],
    ['an ellipsis', 'send it…', 'send it'],
    ['a number as a text', 7, '7'],
    ['a truth as a text', true, 'True'],
    ['a wide number', '７', 7],
    ['an empty text', '', null],
    ['a text of which nothing is seen', '\u200b', null],
    ['an empty object', { a: null, b: [{}] }, null],
    ['an empty place of a list', ['a', '', null], ['A']],
    ['empty fields further in', { to: 'bo', cc: [], bcc: '' }, { to: 'bo' }],
  ])('is the same whatever the wording is: %s', (_, one, other) => {
    expect(note(one)).toBe(note(other));
  });

  test.each<[string, Json, Json]>([
    ['another name', 'ord_1', 'ord_2'],
    ['another number', 7, 70],
    ['a decimal point', '1.5', '15'],
    ['a minus', -7, 7],
    ['words that are one', 'two words', 'twowords'],
    ['another order of a list', ['a', 'b'], ['b', 'a']],
    ['a list and its only item', ['a'], 'a'],
    ['yes and no', true, false],
    ['no and nothing', false, null],
    ['zero and nothing', 0, null],
    ['another field', { to: 'bo' }, { cc: 'bo' }],
  ])('is another where the meaning is: %s', (_, one, other) => {
    expect(note(one)).not.toBe(note(other));
  });

  test('does not depend on the order of fields, or on fields that say nothing', () => {
    const args = { order: 'ord_1', lines: [{ sku: 'a', count: 2 }] };
    expect(gist({ lines: [{ count: 2, sku: 'a' }], order: 'ord_1' })).toBe(gist(args));
    expect(gist({ ...args, note: null, tags: [], to: '' })).toBe(gist(args));
    expect(gist({ ...args, note: 'please' })).not.toBe(gist(args));
  });

  test('is the business key alone, else what it looks like, else everything', () => {
    const similar = { fields: ['/to'], windowMs: 1, mode: 'shadow' } as const;
    const looks = tool({}, { similar });
    const keyed = tool({}, { similar, businessKey: { fields: ['/order', '/lines/*'], windowMs: 1 } });
    const one = { order: 'ord_1', to: 'bo', amount: 5, lines: ['a', 'b'] };
    expect(gist({ ...one, amount: 6, to: 'cy' }, keyed)).toBe(gist(one, keyed));
    expect(gist({ ...one, order: 'ORD_1 ' }, keyed)).toBe(gist(one, keyed));
    expect(gist({ ...one, order: 'ord_2' }, keyed)).not.toBe(gist(one, keyed));
    expect(gist({ ...one, lines: ['a'] }, keyed)).not.toBe(gist(one, keyed));
    expect(gist({ ...one, lines: null }, keyed)).toBe(gist({ order: 'ord_1' }, keyed));
    expect(gist({ ...one, order: 'ord_2', amount: 6 }, looks)).toBe(gist(one, looks));
    expect(gist({ ...one, to: 'cy' }, looks)).not.toBe(gist(one, looks));
    expect(gist({ ...one, amount: 6 })).not.toBe(gist(one));
  });

  test('does not mix up one place with another', () => {
    const pair = tool({}, { businessKey: { fields: ['/a', '/b'], windowMs: 1 } });
    expect(gist({ a: 'x' }, pair)).not.toBe(gist({ b: 'x' }, pair));
    expect(gist({ a: 'x', b: 'y' }, pair)).not.toBe(gist({ a: 'y', b: 'x' }, pair));
  });

  test('is of one run, or of the tenant where the tool says so; of one tool, and of the sandbox or not', () => {
    const args = { order: 'ord_1' };
    const everywhere = tool({ remember: 'tenant' });
    const elsewhere = { ...place, runId: 'run_2' };
    expect(gist(args, byArguments, elsewhere)).not.toBe(gist(args));
    expect(gist(args, everywhere, elsewhere)).toBe(gist(args, everywhere));
    for (const of of [byArguments, everywhere]) {
      expect(gist(args, of, { ...place, tenant: 'umbrella' })).not.toBe(gist(args, of));
      expect(gist(args, of, { ...place, sandbox: true })).not.toBe(gist(args, of));
      expect(gist(args, { ...of, name: 'test.other' })).not.toBe(gist(args, of));
      expect(gist(args, { ...of, version: 2 }), 'a new version of the tool asks for the same').toBe(gist(args, of));
    }
  });
});

const word = fc.string({ unit: fc.constantFrom(...'abcXYZ059_-éßσ'), minLength: 1, maxLength: 8 });
const invisible = fc.constantFrom('\u200b', '\u2060', '\ufeff', '\u00ad', '\u202e', '\u3164', '\u0000');
const value = fc.oneof(word, fc.integer(), fc.boolean(), fc.array(word, { minLength: 1, maxLength: 3 }));
const values = fc.dictionary(word, value, { minKeys: 1, maxKeys: 4 });

/** Writes the same in other words, by dice. */
function reworded(args: JsonObject, dice: () => number, odd: () => string): JsonObject {
  const other = (each: Json): Json => {
    if (Array.isArray(each)) return [...each.map(other), ...(dice() === 0 ? [null] : [])];
    if (typeof each === 'number') return dice() === 0 ? String(each) : each;
    if (typeof each !== 'string') return each;
    const cased = [each, each.toUpperCase(), each.toLowerCase(), each.normalize('NFD')][dice()] as string;
    const at = Math.min(cased.length, dice());
    const space = [' ', '\t', '', '\u00a0'][dice()] as string;
    return `${space}${cased.slice(0, at)}${odd()}${cased.slice(at)}${space}${['.', '!', '', ' ?'][dice()]}`;
  };
  const fields = Object.entries(args).map(([field, each]) => [field, other(each)] as const);
  return Object.fromEntries([...fields.toReversed(), ['said-nothing', [null, '', [], {}][dice()] as Json]]);
}

test('other words make no other call of any', () => {
  fc.assert(
    fc.property(values, fc.infiniteStream(fc.nat({ max: 3 })), fc.infiniteStream(invisible), (args, dice, odd) => {
      const other = reworded(
        args,
        () => dice.next().value as number,
        () => odd.next().value as string,
      );
      expect(gist(other)).toBe(gist(args));
    }),
  );
});

test('other letters and digits do', () => {
  const plain = fc.string({ unit: fc.constantFrom(...'abc059_-'), minLength: 1, maxLength: 8 });
  fc.assert(fc.property(plain, plain, (one, other) => one === other || note(one) !== note(other)));
});
