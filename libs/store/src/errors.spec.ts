import { expect, test } from 'vitest';
import { isTransient } from './errors.js';

const coded = (code: string) => Object.assign(new Error(code), { code });

test.each([
  'ECONNRESET',
  'ECONNREFUSED',
  'ETIMEDOUT',
  'EPIPE',
  '08006',
  '57P01',
  '57014',
  '53300',
  '40001',
  '40P01',
  '25006',
])('after %s nobody knows, or it passes: the same again', (code) => {
  expect(isTransient(coded(code))).toBe(true);
});

test('an error without a code comes from the socket or from a limit of the client', () => {
  expect(isTransient(new Error('Connection terminated unexpectedly'))).toBe(true);
});

test.each(['22021', '22P05', '23505', '23514', '42501', '42P01', '25001'])('%s is an answer', (code) => {
  expect(isTransient(coded(code))).toBe(false);
});
