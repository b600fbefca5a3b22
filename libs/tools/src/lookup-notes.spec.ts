import { expect, test } from 'vitest';
import { readTool } from './parse-tool-file.js';
import { ToolSource } from './tool-source.js';
import { fileOf, type Kind } from './upstream-kinds.spec-helper.js';

type Edits = readonly (readonly [from: string, to: string])[];
const notesOf = (kind: Kind, ...edits: Edits) =>
  readTool(new ToolSource('/tools/refund.tool.yaml', fileOf(kind, ...edits), {})).notes;

const apart =
  'the lookup names neither key nor intentId: two intents with the same arguments cannot be told apart by it';

test.each<[Kind, Edits]>([
  ['http', [['?key={{key}}', '?order={{order_id}}']]],
  ['mcp', [[`"{ 'key': key }", present`, `"{ 'order': $args.order_id }", present`]]],
  ['mcp', [[`arguments: "{ 'key': key }", present`, 'present']]],
  ['process', [['find, --, "{{key}}"', 'find, --, "{{order_id}}"']]],
])('a lookup of the kind %s that asks by arguments alone is pointed out', (kind, edits) => {
  expect(notesOf(kind, ...edits)).toEqual([apart]);
});

test.each<[Kind, Edits, how: string]>([
  ['http', [], 'key, which the call sends only as the header Idempotency-Key'],
  [
    'mcp',
    [["{ 'order': $args.order_id, 'key': key }", '$args']],
    'key, which the call sends only in _meta as intendant/key',
  ],
  [
    'process',
    [['"--key={{key}}", ', '']],
    'key, which the call sends only in the environment as INTENDANT_KEY and INTENDANT_INTENT_ID',
  ],
])('so is one of the kind %s by what the call itself never mentions', (kind, edits, how) => {
  expect(notesOf(kind, ...edits)).toEqual([
    `the lookup asks by ${how}: unless the upstream keeps that, nothing is ever found, and an effect that is there is taken for absent`,
  ]);
});

test.each<[Kind, Edits]>([
  ['http', [['body: $args', `body: "{ 'reference': key }"`]]],
  ['http', [['path: /refunds,', 'path: "/refunds/{{key}}",']]],
  ['http', [['body: $args', 'body: $args, headers: { X-Reference: "{{key}}" }']]],
  [
    'http',
    [
      ['body: $args', 'body: $$'],
      ['?key={{key}}', '?id={{intentId}}'],
    ],
  ],
  ['http', [['guarantee: lookup', 'guarantee: idempotency_key\n  keyRetention: PT24H']]],
  ['mcp', []],
  ['process', []],
  [
    'process',
    [
      ['"--key={{key}}", ', ''],
      ['{ LEDGER: real }', `{ LEDGER: real }, input: "{ 'key': key }"`],
    ],
  ],
  ['module', []],
])('nothing is said of the kind %s where the call sends what the lookup asks by', (kind, edits) => {
  expect(notesOf(kind, ...edits)).toEqual([]);
});
