import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { catalogue } from './catalogue.js';
import { loadTools } from './load-tools.js';
import { environment, problemsOf, refundFile, refundTool } from './refund-tool.spec-helper.js';
import { ToolFileError } from './tool-file-error.js';

const plain = 'order_id: { type: string, pattern: "^ord_[A-Za-z0-9]+$" }';
const annotated = (sources: string) => `order_id: { type: string, x-from-result: ${sources} }`;

describe('an argument that has to come from a result', () => {
  test('is known by its place and its sources', () => {
    expect(refundTool([plain, annotated('orders.get#/id')]).identifiers).toEqual([
      { pointer: '/order_id', sources: ['orders.get#/id'] },
    ]);
    const two = annotated('[orders.get#/id, orders.list#/items/*/id]');
    expect(refundTool([plain, two]).identifiers[0]?.sources).toEqual(['orders.get#/id', 'orders.list#/items/*/id']);
    const inList =
      'order_id: { type: array, items: { type: object, additionalProperties: false, properties: { a/b: { type: string, x-from-result: orders.get#/id } } } }';
    expect(refundTool([plain, inList], ['headers: { X-Order: "{{order_id}}" }', '']).identifiers[0]?.pointer).toBe(
      '/order_id/*/a~1b',
    );
    expect(refundTool().identifiers).toEqual([]);
  });

  test.each([
    ['orders.get', /must be like orders\.get#\/id/],
    ['"#/id"', /must be like/],
    ['orders.get#id', /must be like/],
    ['[]', /must be like/],
    ['7', /must be like/],
    ['{}', /must be like/],
  ])('and whose source is %s is a mistake', (sources, message) => {
    expect(problemsOf([plain, annotated(sources)])).toEqual([
      expect.objectContaining({
        field: 'input.properties.order_id.x-from-result',
        message: expect.stringMatching(message),
      }),
    ]);
  });

  test('cannot be told of where no one place is meant, nor in a result', () => {
    const inBranch = 'order_id: { anyOf: [{ type: string, x-from-result: orders.get#/id }] }';
    expect(problemsOf([plain, inBranch])).toContainEqual(
      expect.objectContaining({ message: expect.stringMatching(/not followed here/) }),
    );
    const output = [
      'refund_id: { type: string }',
      'refund_id: { type: string, x-from-result: orders.get#/id }',
    ] as const;
    expect(problemsOf(output)).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/must be in input/) }),
    ]);
  });
});

test.each([
  '{ type: array, items: { type: string }, x-from-result: orders.get#/id }',
  '{ type: [string, array], items: { type: string }, x-from-result: orders.get#/id }',
  '{ x-from-result: orders.get#/id }',
  '{ type: object, additionalProperties: false, x-from-result: orders.get#/id }',
  '{ type: [string, array], items: { type: string, x-from-result: orders.get#/id } }',
])('an argument that could be something else than a name cannot be followed: %s', (schema) => {
  expect(problemsOf([plain, `order_id: ${schema}`], ['headers: { X-Order: "{{order_id}}" }', ''])).toContainEqual(
    expect.objectContaining({ message: expect.stringMatching(/must be of type string, integer or number/) }),
  );
});

describe('a folder of tools', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'intendant-identifiers-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const get = refundFile(
    ['name: payments.refund.create', 'name: payments.refund.get'],
    ['effect: destructive', 'effect: write'],
  );
  async function load(sources: string) {
    await writeFile(path.join(folder, 'a.tool.yaml'), refundFile([plain, annotated(sources)]));
    await writeFile(path.join(folder, 'b.tool.yaml'), get);
    return loadTools(folder, environment);
  }
  const session = {
    tenant: 'acme',
    runId: 'r',
    user: 'ada',
    permissions: ['*'],
    phase: 'resolve',
    profile: 'batch',
    expiresAt: 1,
  } as const;

  test('notes with the tool that is named what others take from its results, and tells no model', async () => {
    const tools = await load('payments.refund.get#/refund_id');
    expect(tools.get('payments.refund.get')?.terms.yields).toEqual(['/refund_id']);
    expect(tools.get('payments.refund.create')?.terms.yields).toBeUndefined();
    expect(tools.check(tools.get('payments.refund.create') as never, { order_id: 'x', amount_cents: 1 })).toEqual([]);
    expect(JSON.stringify(catalogue(tools, session))).not.toContain('x-from-result');
    expect(JSON.stringify(catalogue(tools, session))).toContain('"order_id":{"type":"string"}');
  });

  test('that take what nobody is shown do not load', async () => {
    const hiding = get
      .replace('retry:', 'result: { redact: [/note] }\nretry:')
      .replace('refund_id: {', 'note: { type: string }, refund_id: {');
    await writeFile(path.join(folder, 'a.tool.yaml'), refundFile([plain, annotated('payments.refund.get#/note')]));
    await writeFile(path.join(folder, 'b.tool.yaml'), hiding);
    const error = await loadTools(folder, environment).catch((reason: unknown) => reason);
    expect(String(error)).toMatch(/payments\.refund\.get shows \/note to nobody by result\.redact/);
  });

  test.each([
    ['payments.refund.gett#/refund_id', /did you mean payments\.refund\.get\?/],
    ['payments.refund.get#/refundid', /output of payments\.refund\.get has no \/refundid/],
  ])('that names %s does not load', async (sources, message) => {
    const error = await load(sources).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ToolFileError);
    expect((error as ToolFileError).problems).toEqual([
      expect.objectContaining({
        line: 15,
        field: 'input.properties.order_id.x-from-result',
        message: expect.stringMatching(message),
      }),
    ]);
  });
});
