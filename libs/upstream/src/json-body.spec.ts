import { expect, test } from 'vitest';
import { parseBody } from './json-body.js';

test('an answer that nobody could store is not a receipt', () => {
  const nested = (levels: number) => Buffer.from('['.repeat(levels) + ']'.repeat(levels));
  expect(parseBody(nested(64))).toMatchObject({ ok: true });
  expect(parseBody(nested(65))).toEqual({ ok: false, why: 'the answer is nested deeper than 64 levels' });
  expect(parseBody(nested(200_000))).toMatchObject({ ok: false });
});

test('a number that would change when it is read comes as it is written', () => {
  const read = (text: string) => parseBody(Buffer.from(text));
  const text =
    '{"id":12345678901234567890,"n":[-9007199254740993,9007199254740991,1e999,-1E+400,1e22,0.1,12345678901234567.5],"1234567890123456789":"id 12345678901234567890 \\" 12345678901234567890"}';
  expect(read(text)).toEqual({
    ok: true,
    data: {
      id: '12345678901234567890',
      n: ['-9007199254740993', 9007199254740991, '1e999', '-1E+400', 1e22, 0.1, '12345678901234567.5'],
      '1234567890123456789': 'id 12345678901234567890 " 12345678901234567890',
    },
  });
  expect(read('12345678901234567890')).toEqual({ ok: true, data: '12345678901234567890' });
  expect(read('{12345678901234567890:1}')).toMatchObject({ ok: false });
  expect(read(`["${'x'.repeat(1_000_000)}",12345678901234567890]`)).toMatchObject({ ok: true });
});

test('of members with one name the last one counts, and no name means more than it says', () => {
  expect(parseBody(Buffer.from('{"a":1,"a":2}'))).toEqual({ ok: true, data: { a: 2 } });
  const read = parseBody(Buffer.from('{"__proto__":{"id":1},"constructor":2}'));
  expect(JSON.stringify(read)).toBe('{"ok":true,"data":{"__proto__":{"id":1},"constructor":2}}');
});

test('an answer that is not JSON in UTF-8 is refused, and an empty one is null', () => {
  expect(parseBody(Buffer.from([0x22, 0xff, 0x22]))).toMatchObject({ ok: false });
  expect(parseBody(Buffer.from('{"id":'))).toMatchObject({ ok: false });
  expect(parseBody(Buffer.alloc(0))).toEqual({ ok: true, data: null });
});
