import { readFileSync } from 'node:fs';
import path from 'node:path';
import { publicEventNames, subjects } from '@intendant/contracts';
import { readToolIntent } from '@intendant/tools';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { asyncApi } from './asyncapi.js';
import { statesAfter } from './events.js';

const onDisk = path.join(import.meta.dirname, '../../../../docs/openapi.json');
const api = JSON.parse(readFileSync(onDisk, 'utf8')) as { components: { schemas: Record<string, object> } };
const document = JSON.parse(JSON.stringify(asyncApi(api.components.schemas))) as ReturnType<typeof asyncApi>;

/** Where a reference leads to; undefined: nowhere. */
function follow(ref: string): unknown {
  return ref
    .slice(2)
    .split('/')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], document);
}

// The parser of AsyncAPI brings 168 packages, one of which reports each install to somebody; the schema is all it would add.
test('is an AsyncAPI document by the schema of AsyncAPI', async () => {
  const { default: specs } = await import('@asyncapi/specs');
  const validate = new Ajv({ strict: false, logger: false }).compile(specs.schemasWithoutId['3.0.0'] as object);
  validate(document);
  expect(validate.errors).toBeNull();
});

test('refers to what is there, and uses all of it', () => {
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":"(#\/[^"]+)"/g)].map(([, ref = '']) => ref);
  for (const ref of refs) expect([ref, follow(ref)]).toEqual([ref, expect.any(Object)]);
  const { messages, schemas, securitySchemes } = document.components;
  for (const [kind, parts] of Object.entries({ messages, schemas, securitySchemes })) {
    for (const name of Object.keys(parts)) expect(refs).toContain(`#/components/${kind}/${name}`);
  }
  for (const name of Object.keys(document.channels)) expect(refs).toContain(`#/channels/${name}`);
});

test('gives examples that fit its schemas', () => {
  const ajv = new Ajv2020({ strict: false });
  ajvFormats.default(ajv);
  ajv.addSchema(document, 'nats');
  for (const [name, { headers, examples }] of Object.entries(document.components.messages)) {
    expect(examples).not.toEqual([]);
    for (const example of examples) {
      const parts = headers === undefined ? ['payload'] : ['payload', 'headers'];
      for (const part of parts as (keyof typeof example)[]) {
        ajv.validate({ $ref: `nats#/components/messages/${name}/${part}` }, example[part] ?? {});
        expect([name, part, ajv.errors]).toEqual([name, part, null]);
      }
    }
  }
});

test('knows each kind of public event, and how an intent stands after it', () => {
  expect(Object.keys(document.channels['events']?.messages ?? {})).toEqual([...publicEventNames]);
  expect(document.channels['events']?.address).toBe(subjects.event('{tenant}', '{runId}', '{intentId}', '{event}'));
  for (const name of publicEventNames) expect(statesAfter(name)).not.toEqual([]);
  expect(statesAfter('approval_requested')).toEqual(['awaiting_approval']);
  expect(statesAfter('outcome_unknown')).toEqual(['unknown']);
  expect(statesAfter('corrected').length).toBeGreaterThan(5);
});

test.each([
  ['all of it', { tool: 'orders.get', args: {}, stepId: 's3', toolVersion: 1, sandbox: true }],
  ['the least', { tool: 'orders.get', args: { a: [1] } }],
  ['null for what is left out', { tool: 'orders.get', args: {}, stepId: null, toolVersion: null }],
  ['no tool', { args: {} }],
  ['a tool that is no name', { tool: 'Refund', args: {} }],
  ['a tool with too long a name', { tool: `a.${'b'.repeat(63)}`, args: {} }],
  ['a list as arguments', { tool: 'orders.get', args: [] }],
  ['no arguments', { tool: 'orders.get' }],
  ['a step with a space', { tool: 'orders.get', args: {}, stepId: 'a b' }],
  ['a step without characters', { tool: 'orders.get', args: {}, stepId: '' }],
  ['a step that is too long', { tool: 'orders.get', args: {}, stepId: 's'.repeat(129) }],
  ['version 0', { tool: 'orders.get', args: {}, toolVersion: 0 }],
  ['half a version', { tool: 'orders.get', args: {}, toolVersion: 1.5 }],
  ['a sandbox that is a word', { tool: 'orders.get', args: {}, sandbox: 'yes' }],
  ['no sandbox by null', { tool: 'orders.get', args: {}, sandbox: null }],
  ['a tenant', { tool: 'orders.get', args: {}, tenant: 'acme' }],
  ['a list', []],
])('takes and refuses the same submits as the service: %s', (_, message) => {
  const taken = (() => {
    try {
      readToolIntent(message);
      return true;
    } catch {
      return false;
    }
  })();
  const ajv = new Ajv2020({ strict: false });
  expect(ajv.validate(document.components.messages['request']?.payload ?? false, message)).toBe(taken);
});
