import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { answerSchema } from './answer-schema.js';

const data = {
  type: 'object',
  required: ['total'],
  properties: { total: { $ref: '#/$defs/money' }, next: { $ref: '#' }, rest: { $ref: '#money' } },
  $defs: { money: { $anchor: 'money', type: 'integer' } },
};
const validate = new Ajv2020({ strict: false }).compile(answerSchema(data));
const answer = { intentId: 'i', status: 'committed', outcome: 'executed', replayed: false, summary: null, error: null };

it('holds for answers with data, with none, and for refusals', () => {
  expect(validate({ ...answer, data: { total: 1, next: { total: 2 } } })).toBe(true);
  expect(validate({ ...answer, status: 'unknown', outcome: 'unknown', data: null, error: { code: 'x' } })).toBe(true);
  expect(validate({ error: { code: 'invalid_arguments' } })).toBe(true);
});

it('keeps what the schema of the data refers to where it was', () => {
  expect(validate({ ...answer, data: { total: 'many' } })).toBe(false);
  expect(validate({ ...answer, data: { total: 1, next: { total: 'many' } } })).toBe(false);
  expect(validate({ ...answer, data: { total: 1, rest: 2 } })).toBe(true);
  expect(validate({ ...answer, data: { total: 1, rest: 'many' } })).toBe(false);
});

it('is made once for each schema', () => {
  expect(answerSchema(data)).toBe(answerSchema(data));
});

it('holds for data as it is shown, with texts hidden and lists shortened, and keeps fields of any name', () => {
  const strict = {
    type: 'object',
    required: ['card', 'items', 'pattern'],
    properties: {
      card: { type: 'string', pattern: '^[0-9]{16}$', maxLength: 16 },
      items: { type: 'array', minItems: 3, items: { type: 'integer' } },
      pattern: { type: 'integer' },
    },
  };
  const holds = new Ajv2020().compile(answerSchema(strict));
  expect(holds({ ...answer, data: { card: '[redacted]', items: [1], pattern: 1 } })).toBe(true);
  expect(holds({ ...answer, data: { card: '[redacted]', items: [1], pattern: 'a' } })).toBe(false);
});
