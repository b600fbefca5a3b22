import { expect, test } from 'vitest';
import { parseBody } from './json-body.js';

test('an answer that nobody could store is not a receipt', () => {
  const nested = (levels: number) => Buffer.from('['.repeat(levels) + ']'.repeat(levels));
  expect(parseBody(nested(64))).toMatchObject({ ok: true });
  expect(parseBody(nested(65))).toEqual({ ok: false, why: 'the answer is nested deeper than 64 levels' });
  expect(parseBody(nested(200_000))).toMatchObject({ ok: false });
});

test('an answer that is not JSON in UTF-8 is refused, and an empty one is null', () => {
  expect(parseBody(Buffer.from([0x22, 0xff, 0x22]))).toMatchObject({ ok: false });
  expect(parseBody(Buffer.from('{"id":'))).toMatchObject({ ok: false });
  expect(parseBody(Buffer.alloc(0))).toEqual({ ok: true, data: null });
});
