import { expect, test } from 'vitest';
import { permissionWithin } from './ceiling.js';

test.each([
  ['payments:refund', ['payments:refund']],
  ['payments:refund', ['mail:*', 'payments:*']],
  ['payments:*', ['payments:*']],
  ['payments:refund*', ['payments:*']],
  ['*', ['*']],
  ['anything', ['*']],
])('%s is within %j', (wanted, most) => {
  expect(permissionWithin(wanted, most)).toBe(true);
});

test.each([
  ['*', ['payments:*', 'mail:*']],
  ['payments:*', ['payments:refund']],
  ['payments:*', ['payments:refund*']],
  ['payments:*', []],
  ['payment', ['payments:*']],
  ['payments:refunds', ['payments:refund']],
  ['payments:refund*', ['payments:refund']],
  // Stands for all that begins with "payments:", the other only for what begins with "payments:*".
  ['payments:*', ['payments:**']],
])('%s is beyond %j', (wanted, most) => {
  expect(permissionWithin(wanted, most)).toBe(false);
});
