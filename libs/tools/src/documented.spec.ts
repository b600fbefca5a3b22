import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parseToolFile } from './parse-tool-file.js';
import { previewSchema } from './preview-schema.js';
import { toolFileSchema } from './tool-file-schema.js';
import { windowsOf } from './windows.js';

const page = await readFile(new URL('../../../docs/tools.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text]) => String(text));
const variables = ['PAYMENTS_URL', 'PAYMENTS_TEST_URL', 'CRM_MCP_URL', 'CRM_URL', 'LEDGER_URL'];
const env = Object.fromEntries(variables.map((name, n) => [name, `https://${n}.example`]));

/** What the shorter examples leave out. */
const head = `apiVersion: intendant/v1
name: example.tool
version: 1
description: An example.
effect: write
permission: example:use
input: { type: object, additionalProperties: false, required: [order_id], properties: { order_id: { type: string } } }
output: { type: object, required: [id] }
`;

test('every tool file in docs/tools.md is a good one', () => {
  const whole = examples.filter((text) => text.startsWith('apiVersion:'));
  const parts = examples.filter((text) => text.startsWith('upstream:')).map((text) => head + text);
  const tools = [...whole, ...parts].map((text, n) => parseToolFile(`/docs/${n}.tool.yaml`, text, env));
  expect(tools.map(({ upstream }) => upstream.kind)).toEqual(['http', 'mcp', 'process', 'module']);
  expect(tools[0]).toMatchObject({ sandbox: { kind: 'http' }, upstream: { poll: {}, outcomes: [{}, {}, {}] } });
});

test('the approval in docs/tools.md is a good one and has every field', () => {
  const [approval = ''] = examples.filter((text) => text.startsWith('approval:'));
  const [whole = ''] = examples.filter((text) => text.startsWith('apiVersion:'));
  const fields = `    card: { type: object, additionalProperties: false, properties: { number: { type: string } } }
    lines: { type: array, items: { type: object, additionalProperties: false, properties: { iban: { type: string } } } }
`;
  const text = whole.replace(/^ {4}order_id:/m, `${fields}$&`) + approval;
  const read = parseToolFile('/docs/approval.tool.yaml', text, env).approval;
  expect(read).toMatchObject({ required: true, quorum: 2, ttlMs: 1_800_000, groups: ['payments'] });
  const written = [...approval.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name);
  const fieldsRead = Object.keys(read).filter((name) => name !== 'preview');
  expect(written).toEqual(fieldsRead.map((name) => name.replace(/Ms$/, '')));
});

test('the results in docs/tools.md are good ones and have every field', () => {
  const [result = ''] = examples.filter((text) => text.startsWith('result:'));
  const output = `output:
  type: object
  required: [id]
  properties:
    id: { type: string }
    count: { type: integer }
    card: { type: object, properties: { number: { type: string } } }
    items: { type: array, items: { type: object, properties: { iban: { type: string } } } }
`;
  const names = ['limit: { type: integer, minimum: 1 }', 'status: { type: string }', 'since: { type: string }'];
  const text = head
    .replace('properties: {', `properties: { ${names.join(', ')},`)
    .replace(/^output:.*\n/m, () => output + result);
  const upstream = examples.find((each) => each.startsWith('upstream:')) ?? '';
  const { terms, redaction } = parseToolFile('/docs/result.tool.yaml', text + upstream, env);
  expect(redaction).toEqual({ pointers: ['/card/number', '/items/*/iban'], patterns: ['card', 'iban', 'token'] });
  expect(Object.keys(terms.shows?.list ?? {})).toEqual(['at', 'limit', 'max', 'total', 'argument', 'order', 'narrow']);
  const properties = (toolFileSchema['properties'] as { result: { properties: object } }).result.properties;
  expect([...result.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name)).toEqual(Object.keys(properties));
});

test('so is the preview, which has every field too', () => {
  const [, preview = ''] = examples.filter((text) => text.startsWith('approval:'));
  const [whole = ''] = examples.filter((text) => text.startsWith('apiVersion:'));
  expect(parseToolFile('/docs/preview.tool.yaml', whole + preview, env).approval.preview).toMatchObject({
    use: 'real',
    token: { apply: { kind: 'if_match' }, changedStatuses: [412] },
  });
  const written = [...preview.matchAll(/^ {4}(\w+):/gm)].map(([, name]) => name);
  expect(written).toEqual(Object.keys(previewSchema['properties'] as object));
});

test('every window is in the table of docs/tools.md', () => {
  const span = { ms: 1, basis: 'chosen' } as const;
  const windows = windowsOf({
    ...{ effect: 'write', guarantee: 'idempotency_key', authority: 'authoritative', attempts: 1 },
    ...{ connect: span, call: span, notice: span, lease: span, settle: span, maxProcessing: span, lag: span },
    ...{ spacing: span, keyRetention: span, deadline: span, poll: { interval: span, deadline: span } },
    approvalTtl: span,
  });
  for (const { name } of windows) expect(page).toMatch(new RegExp(`^\\| ${name}[ (|]`, 'm'));
});
