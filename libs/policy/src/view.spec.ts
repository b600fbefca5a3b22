import { createHash } from 'node:crypto';
import { type ApprovalRules, defaultApproval, redacted } from '@intendant/contracts';
import { type Json, type JsonObject, sameJson } from '@intendant/intent';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderImpact, renderView } from './view.js';

const tool = (approval: Partial<ApprovalRules> = {}) => ({
  name: 'payments.refund.create',
  approval: { ...defaultApproval, ...approval },
});
const shown = (value: Json) => renderView(tool({ view: '{{value}}' }), { value });
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);

describe('the action in words', () => {
  test('is the view of the tool with the real values, injected ones too', () => {
    const view = 'Refund {{amount_cents}} cents of {{order_id}} to {{ agent_user }}: {{note}} {{reason}}';
    const values = { amount_cents: 1250, order_id: 'ord_7', agent_user: 'ada@example.com', note: 'damaged on arrival' };
    expect(renderView(tool({ view }), values)).toBe(
      'Refund 1250 cents of ord_7 to ada@example.com: "damaged on arrival" (not given)',
    );
  });

  test('keeps the line breaks of the view', () => {
    expect(renderView(tool({ view: 'To {{a}}\nFrom {{b}}' }), { a: 'x\ny', b: 'z' })).toBe('To "x\\u{a}y"\nFrom z');
  });

  test('is name and arguments, sorted, where there is no view', () => {
    const values = { order_id: 'ord_7', amount_cents: 5, card: { number: '4111' }, pin: '0000', 'a: 1, b': null };
    expect(renderView(tool({ redact: ['/pin'] }), values)).toBe(
      'payments.refund.create "a: 1, b": null, amount_cents: 5, card: {"number":"4111"}, order_id: ord_7, pin: (redacted)',
    );
    expect(renderView(tool(), {})).toBe('payments.refund.create');
  });

  test('is cut where the caller has chosen names without end: a message has to hold it', () => {
    const view = renderView(tool(), { ['\x7f'.repeat(250_000)]: 0 });
    expect(view.length).toBeLessThan(10_000);
    expect(view).toMatch(/… \(1500028 characters, sha256 [0-9a-f]{16}\)$/);
  });

  test('says what is touched, or nothing', () => {
    expect(renderImpact(tool({ impact: 'Money of {{shop}}.' }), { shop: 'Café 7' })).toBe('Money of "Café 7".');
    expect(renderImpact(tool(), { shop: 'x' })).toBeNull();
  });

  test('hides a part of what it names', () => {
    const made = tool({ view: '{{card}} {{lines}}', redact: ['/card/number', '/lines/*/iban'] });
    const values: JsonObject = {
      card: { brand: 'visa', number: '4111' },
      lines: [{ iban: 'DE1' }, { iban: 'DE2', n: 1 }],
    };
    expect(renderView(made, values)).toBe(
      '{"brand":"visa","number":(redacted)} [{"iban":(redacted)},{"iban":(redacted),"n":1}]',
    );
  });

  test.each<[Json, string]>([
    ['ord_7', 'ord_7'],
    ['https://shop.example/a+b', 'https://shop.example/a+b'],
    ['Größe', 'Größe'],
    ['two words', '"two words"'],
    ['', '""'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['5', '"5"'],
    [5, '5'],
    ['true', '"true"'],
    [true, 'true'],
    ['null', '"null"'],
    [null, 'null'],
    ['(redacted)', '"(redacted)"'],
    ['(not given)', '"(not given)"'],
    ['line\r\nbreak', '"line\\u{d}\\u{a}break"'],
    ['\u2028\u2029', '"\\u{2028}\\u{2029}"'],
    ['pay\u202egpj.exe', '"pay\\u{202e}gpj.exe"'],
    ['zero\u200bwidth', '"zero\\u{200b}width"'],
    ['\ufeffbom', '"\\u{feff}bom"'],
    ['\ud800', '"\\u{d800}"'],
    ['\u{e000}', '"\\u{e000}"'],
    ['tag\u{e0041}', '"tag\\u{e0041}"'],
    ['a\u00a0b', '"a\\u{a0}b"'],
    ['filler\u3164', '"filler\\u{3164}"'],
    ['\\u{200b}', '"\\\\u{200b}"'],
    [{ b: 'x\u0000', a: [1, 'two'] }, '{"a":[1,"two"],"b":"x\\u{0}"}'],
  ])('shows %j as %s', (value, text) => {
    expect(shown(value)).toBe(text);
  });

  test('never fills in twice', () => {
    expect(renderView(tool({ view: '{{a}} {{b}}' }), { a: '{{b}}', b: 'secret' })).toBe('"{{b}}" secret');
  });

  test('says where a long value was cut, and which it is', () => {
    const word = 'x'.repeat(501);
    expect(shown('x'.repeat(500))).toBe('x'.repeat(500));
    expect(shown(word)).toBe(`"${'x'.repeat(200)}"… (501 characters, sha256 ${sha256(`"${word}"`)})`);
    const list = JSON.stringify([word]);
    expect(shown([word])).toBe(`${list.slice(0, 200)}… (505 characters, sha256 ${sha256(list)})`);
    expect(shown(`${word}y`)).not.toBe(shown(`${word}z`));
  });

  test('does not give a hidden value away by the digest of a long one', () => {
    const made = tool({ view: '{{card}}', redact: ['/card/pin'] });
    const card = (pin: string) => renderView(made, { card: { note: 'x'.repeat(600), pin } });
    expect(card('1')).toBe(card('2'));
  });
});

describe('arguments without what nobody is shown', () => {
  const args = { card: { number: '4111', brand: 'visa' }, lines: [{ iban: 'DE1' }, { iban: 'DE2' }], 'a/b': 1 };

  test('keep everything else', () => {
    expect(redacted(args, ['/card/number', '/lines/*/iban', '/a~1b', '/nothing/here'])).toEqual({
      card: { number: '(redacted)', brand: 'visa' },
      lines: [{ iban: '(redacted)' }, { iban: '(redacted)' }],
      'a/b': '(redacted)',
    });
    expect(redacted(args, [])).toEqual(args);
  });

  test('hide the whole of an object or a list, and are a copy', () => {
    expect(redacted(args, ['/card', '/lines/*'])).toEqual({
      card: '(redacted)',
      lines: ['(redacted)', '(redacted)'],
      'a/b': 1,
    });
    expect(args.card.number).toBe('4111');
  });
});

/** Text that plays tricks, and any other. */
const tricky = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      '"',
      '\\',
      '{{',
      '}}',
      ' ',
      '\n',
      '\r',
      '\t',
      '\0',
      '\u202e',
      '\u200b',
      '\ufeff',
      '\u2028',
      '\ud800',
    ),
    fc.constantFrom('…', '(redacted)', ',', ':', 'u{200b}', 'a', '1', '-', '.', 'true', '\u3164', '\u00a0', 'value'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
});
const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    tricky,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(tricky, tie('value'), { maxKeys: 3 }),
  ),
})).value;
const tricks = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Cn}]/u;

describe('whatever the values are', () => {
  test('nothing in the text is unseen, and it breaks no line', () => {
    fc.assert(
      fc.property(fc.dictionary(tricky, json), json, (values, value) => {
        const all: JsonObject = { ...values, value };
        for (const view of [null, 'Do {{value}} with {{other}}']) {
          const text = renderView(tool({ view }), all);
          expect(text).not.toMatch(tricks);
        }
      }),
    );
  });

  test('two different ones do not read the same', () => {
    fc.assert(
      fc.property(json, json, (one, other) => {
        fc.pre(!sameJson(one, other));
        expect(shown(one)).not.toBe(shown(other));
      }),
    );
  });

  test('a text and the value that it spells do not read the same', () => {
    fc.assert(fc.property(json, (value) => typeof value === 'string' || shown(value) !== shown(shown(value))));
    fc.assert(fc.property(tricky, (text) => shown(text) !== shown(`${text} `) && shown(text) !== shown(`"${text}"`)));
  });

  test('a text with braces is not filled in again', () => {
    fc.assert(
      fc.property(tricky, tricky, (before, after) => {
        const value = `${before}{{secret}}${after}`;
        const render = (secret: string) => renderView(tool({ view: 'To {{value}}.' }), { value, secret });
        expect(render('one')).toBe(render('two'));
      }),
    );
  });

  test('what is hidden makes no difference', () => {
    fc.assert(
      fc.property(json, json, json, (one, other, value) => {
        const made = tool({ redact: ['/hidden', '/list/*/hidden'] });
        const render = (hidden: Json) => renderView(made, { hidden, value, list: [{ hidden, value }] });
        expect(render(one)).toBe(render(other));
      }),
    );
  });
});
