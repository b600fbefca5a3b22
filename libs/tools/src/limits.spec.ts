import { describe, expect, test } from 'vitest';
import { costOfCall } from './cost-of-call.js';
import { parseRate } from './rate.js';
import { type Edit, refundTool, report } from './refund-tool.spec-helper.js';

const costing = (cost: string): Edit => ['concurrency: 8', `concurrency: 8, cost: ${JSON.stringify(cost)}`];
const keyed = (...fields: string[]): Edit => ['retry:', `businessKey: { fields: [${fields}], window: P90D }\nretry:`];
const inputOf = (properties: string, required = 'order_id, amount_cents'): Edit[] => [
  ['required: [order_id, amount_cents]', `required: [${required}]`],
  ['    reason: {', `    ${properties}\n    reason: {`],
];

describe('the cost of a call', () => {
  test('is CEL over its arguments', () => {
    const tool = refundTool(costing('args.amount_cents / 100.0'));
    expect(tool.limits.cost).toBe('args.amount_cents / 100.0');
    expect(costOfCall(tool, { amount_cents: 2499 })).toEqual({ ok: true, micros: 24_990_000 });
    expect(costOfCall(tool, { amount_cents: 1 })).toEqual({ ok: true, micros: 10_000 });
  });

  test('is nothing where the tool declares none', () => {
    expect(costOfCall(refundTool(), { amount_cents: 2499 })).toEqual({ ok: true, micros: 0 });
  });

  test('cannot be told where it needs what the call does not have', () => {
    expect(costOfCall(refundTool(costing('args.amount_cents')), {})).toMatchObject({ ok: false });
    expect(costOfCall(refundTool(costing('-args.amount_cents')), { amount_cents: 1 })).toMatchObject({ ok: false });
  });

  test.each([
    ['amount_cents / 100', 'amount_cents is not known here; known here: args (line 1, column 1)'],
    [
      'args.amount_cent / 100.0',
      'args.amount_cent is not known here; did you mean args.amount_cents? (line 1, column 5)',
    ],
    ['args.amount_cents +', 'found + but expecting end of input (line 1, column 19)'],
    ['session.tenant == "acme" ? 1 : 2', expect.stringContaining('session is not known here')],
  ])('%s is a mistake', (cost, message) => {
    const [found = '', ...others] = report(costing(cost));
    expect(others).toEqual([]);
    expect(found).toMatch(/^20 limits\.cost: .*; must be CEL over args, such as args\.amount_cents \/ 100\.0$/);
    expect(found.slice('20 limits.cost: '.length, found.lastIndexOf('; must be'))).toEqual(message);
  });
});

describe('the rate of a tool', () => {
  test.each([
    ['10/s', { count: 10, perMs: 1000 }],
    ['1/m', { count: 1, perMs: 60_000 }],
    ['100/h', { count: 100, perMs: 3_600_000 }],
    ['5/d', { count: 5, perMs: 86_400_000 }],
  ])('is %s', (text, rate) => {
    expect(refundTool(['concurrency: 8', `ratePerTenant: ${text}`]).limits.rate).toEqual(rate);
    expect(parseRate(text)).toEqual(rate);
  });

  test.each(['0/s', '10', '10/w', '1.5/s', '-1/s', '1234567890/s'])('is not %s', (text) => {
    expect(report(['concurrency: 8', `ratePerTenant: ${text}`])).toEqual([
      expect.stringMatching(/^20 limits\.ratePerTenant: is .*; must be a rate such as 10\/s$/),
    ]);
    expect(parseRate(text)).toBeNull();
  });
});

describe('the business key', () => {
  test('is of fields that every call has', () => {
    expect(refundTool(keyed('/order_id', '/amount_cents')).businessKey).toEqual({
      fields: ['/order_id', '/amount_cents'],
      windowMs: 90 * 86_400_000,
    });
  });

  test('may lie deeper, where every step is required', () => {
    const customer =
      'customer: { type: object, additionalProperties: false, required: [id], properties: { id: { type: string } } }';
    const required = 'order_id, amount_cents, customer';
    expect(report(keyed('/customer/id'), ...inputOf(customer, required))).toEqual([]);
    expect(report(keyed('/customer/id'), ...inputOf(customer))).toEqual([
      '22 businessKey.fields.0: customer may be left out of a call; must be among the required properties of input',
    ]);
    expect(report(keyed('/customer/id'), ...inputOf(customer.replace('required: [id], ', ''), required))).toEqual([
      '22 businessKey.fields.0: customer.id may be left out of a call; must be among the required properties of input',
    ]);
  });

  test.each([
    ['/order', 'input has no property order; did you mean order_id?'],
    ['/reason', 'reason may be left out of a call; must be among the required properties of input'],
    ['/order_id/0', 'order_id need not be an object; must have type: object in input'],
    ['/constructor', 'input has no property constructor; must name one that is required'],
    ['order_id', 'is the string "order_id"; must be a JSON Pointer such as /order_id'],
  ])('cannot be of %s', (field, message) => {
    expect(report(keyed(field))).toEqual([expect.stringContaining(`businessKey.fields.0: ${message}`)]);
  });

  test('lasts for some time', () => {
    expect(report(keyed('/order_id'), ['P90D', '0s'])).toEqual([
      expect.stringContaining('businessKey.window: is zero; must be longer'),
    ]);
  });
});
