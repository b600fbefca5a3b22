import { expect, test } from 'vitest';
import { readFields } from './read-fields.js';

const bytes = (text: string) => new TextEncoder().encode(text);

test('text fields are read, and an empty message has none', () => {
  expect(readFields(bytes('{"id":"d1"}'), ['id'])).toEqual({ id: 'd1' });
  expect(readFields(bytes(''), ['id'])).toEqual({});
});

test.each(['hello', 'null', '[]', '5', '{"id":5}', '{"id":null}'])('%s is refused', (text) => {
  expect(() => readFields(bytes(text), ['id'])).toThrow(
    expect.objectContaining({ error: expect.objectContaining({ code: 'invalid_message' }) }),
  );
});
