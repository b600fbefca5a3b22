import { describe, expect, test } from 'vitest';
import { type Edit, refundTool, report } from './refund-tool.spec-helper.js';

const result = (fields: string): Edit => ['retry:', `result: { ${fields} }\nretry:`];
const output: Edit = [
  'output: { type: object, required: [refund_id], properties: { refund_id: { type: string } } }',
  `output:
  type: object
  required: [refund_id]
  properties:
    refund_id: { type: string }
    card: { type: object, properties: { number: { type: string }, brand: { enum: [visa] }, expires: { type: integer } } }
    items: { type: array, items: { type: object, properties: { iban: { type: [string, "null"] }, of: { type: string, format: email } } } }
    more: { type: object, properties: { count: { type: integer } } }`,
];
const limitArgument: Edit = [
  '    reason:',
  '    limit: { type: integer, minimum: 1 }\n    status: { type: string }\n    reason:',
];

describe('what a tool file says about results', () => {
  test('is nothing by default: cards and tokens go, and the general size holds', () => {
    expect(refundTool().redaction).toEqual({ pointers: [], patterns: ['card', 'token'] });
    expect(refundTool().terms).not.toHaveProperty('shows');
  });

  test('is read field by field', () => {
    const tool = refundTool(
      output,
      limitArgument,
      result(
        'maxBytes: 4096, redact: [/card/number, /items/*/iban], patterns: [iban], trust: external, list: { at: /items, limit: 10, max: 50, total: /more/count, argument: limit, order: newest first, narrow: [status, reason] }',
      ),
    );
    expect(tool.redaction).toEqual({ pointers: ['/card/number', '/items/*/iban'], patterns: ['iban'] });
    expect(tool.terms).toMatchObject({
      untrusted: true,
      shows: {
        maxBytes: 4_096,
        list: {
          ...{ at: '/items', limit: 10, max: 50, total: '/more/count', argument: 'limit', order: 'newest first' },
          narrow: ['status', 'reason'],
        },
      },
    });
  });

  test('needs no more of a list than where it is', () => {
    const shows = (list: string) => refundTool(output, result(`list: { ${list} }`)).terms.shows;
    expect(shows('at: /items')).toEqual({ list: { at: '/items', limit: 20, max: 100 } });
    expect(shows('at: /items, max: 5')).toEqual({ list: { at: '/items', limit: 5, max: 5 } });
    expect(shows('at: /items, limit: 200')).toEqual({ list: { at: '/items', limit: 200, max: 200 } });
  });

  test('may turn every pattern off', () => {
    expect(refundTool(result('patterns: []')).redaction?.patterns).toEqual([]);
  });
});

describe('a mistake in it names line, field and what would be right', () => {
  test.each<[string, string]>([
    ['maxBytes: 10', '28 result.maxBytes: is the number 10; must be a whole number from 256 to 524288'],
    ['maxBytes: 600000', '28 result.maxBytes: is the number 600000; must be a whole number from 256 to 524288'],
    ['redact: [card]', '28 result.redact.0: is the string "card"; must be a JSON Pointer such as /order_id'],
    ['redact: [/card/numbr]', '28 result.redact.0: output has no property card.numbr; did you mean number?'],
    ['redact: [/items/iban]', '28 result.redact.0: items is a list; must go on with /* for each of its items'],
    [
      'redact: [/card/expires]',
      '28 result.redact.0: is integer; must be of type string in output, since the text [redacted] stands there then',
    ],
    [
      'redact: [/card]',
      '28 result.redact.0: is object; must be of type string in output, since the text [redacted] stands there then',
    ],
    [
      'redact: [/card/brand]',
      '28 result.redact.0: has enum in output; must be without it, since the text [redacted] stands there then',
    ],
    [
      'redact: [/items/*/of]',
      '28 result.redact.0: has format in output; must be without it, since the text [redacted] stands there then',
    ],
    [
      'redact: [/refund_id]',
      '28 result.redact: hides what tells effects apart; must leave a required property of output that does, such as an id',
    ],
    ['patterns: [visa]', '28 result.patterns.0: is the string "visa"; must be one of "card", "iban", "token"'],
    ['list: {}', '28 result.list.at: missing; must be a JSON Pointer such as /items, empty for the whole'],
    ['list: { at: /card }', '28 result.list.at: /card need not be a list; must have type: array in output'],
    ['list: { at: /item }', '28 result.list.at: output has no property item; did you mean items?'],
    ['list: { at: "/items/*" }', '28 result.list.at: /items/* is no one place; must be without *'],
    ['list: { at: /items, limit: 30, max: 20 }', '28 result.list.limit: 30 is more than max (20); must be 20 or less'],
    [
      'list: { at: /items, total: /card/number }',
      '28 result.list.total: /card/number need not be a whole number; must have type: integer in output',
    ],
    [
      'list: { at: /items, argument: limits }',
      '28 result.list.argument: limits is no argument; must be a property of input',
    ],
    [
      'list: { at: /items, argument: reason }',
      '28 result.list.argument: reason is a number of items; must be of type integer with a minimum of 1 or more in input',
    ],
    ['list: { at: /items, narrow: [reasn] }', '28 result.list.narrow.0: reasn is no argument; did you mean reason?'],
    [
      'list: { at: /items, order: "a\\nb" }',
      '28 result.list.order: is the string "a\\nb"; must be one line of 60 characters at most',
    ],
  ])('%s', (fields, message) => {
    expect(report(output, result(fields))).toEqual([message]);
  });

  test.each(['', ', minimum: 0'])('where a call may ask for no items or fewer (%s)', (minimum) => {
    const limit: Edit = ['    reason:', `    limit: { type: integer${minimum} }\n    reason:`];
    const mistakes = report(output, limit, result('list: { at: /items, argument: limit }'));
    expect(mistakes.join()).toMatch(/limit is a number of items; must be .* with a minimum of 1 or more in input/);
  });

  test('where there is no output to name places of', () => {
    const read: Edit[] = [['effect: destructive', 'effect: read'], [output[0], ''], result('redact: [/a]')];
    expect(report(...read)).toEqual([
      expect.stringContaining('result.redact.0: is a place in output, which is missing'),
    ]);
  });

  test('a read may hide what it likes: nothing is told apart by it', () => {
    expect(report(['effect: destructive', 'effect: read'], result('redact: [/refund_id]'))).toEqual([]);
  });
});
