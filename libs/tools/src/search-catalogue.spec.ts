import { expect, test } from 'vitest';
import { searchCatalogue } from './search-catalogue.js';

const tool = (name: string, description: string) => ({ name, description });
const tools = [
  tool('orders.get', 'Read an order.'),
  tool('orders.list', 'List orders, newest first.'),
  tool(
    'payments.refund.create',
    'Refund a captured payment to its original card.\nDo not use it for orders that were not paid.',
  ),
  tool('payments.refund.get', 'Read a refund.'),
  tool('mail.send', 'Sends a mail — auch Grüße.'),
];
const found = (query?: string, namespace?: string) =>
  searchCatalogue(tools, { query, namespace }).map(({ name }) => name);

test.each<[string, string[]]>([
  ['order', ['orders.get', 'orders.list', 'payments.refund.create']],
  ['read order', ['orders.get']],
  ['order read', ['orders.get']],
  ['orders get', ['orders.get']],
  ['get ORDERS', ['orders.get']],
  ['orders.get', ['orders.get']],
  ['create refund card', ['payments.refund.create']],
  ['payments read', ['payments.refund.get']],
  ['refund, original-card', ['payments.refund.create']],
  ['grüße', ['mail.send']],
  ['  ', tools.map(({ name }) => name)],
  ['refund mail', []],
  ['—', ['mail.send']],
  ['%', []],
])('finds by %j every tool that has all of its words, in whatever order', (query, names) => {
  expect(found(query)).toEqual(names);
});

test('finds by namespace, and by both', () => {
  expect(found(undefined, 'payments')).toEqual(['payments.refund.create', 'payments.refund.get']);
  expect(found(undefined, 'payments.refund')).toEqual(['payments.refund.create', 'payments.refund.get']);
  expect(found(undefined, 'pay')).toEqual([]);
  expect(found('read', 'payments')).toEqual(['payments.refund.get']);
  expect(found()).toHaveLength(tools.length);
});
