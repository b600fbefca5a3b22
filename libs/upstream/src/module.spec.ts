import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ModuleUpstream, PreviewDefinition, ToolDefinition } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import { needsReceipt, toolOf } from '@intendant/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ModuleAdapter } from './module-adapter.js';
import { moduleMisfits } from './module-loader.js';

let folder: string;
let adapter: ModuleAdapter;
let files = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'intendant-module-'));
  adapter = new ModuleAdapter(needsReceipt, 10_000);
});
afterAll(async () => {
  await adapter.close();
  await rm(folder, { recursive: true });
});

async function moduleOf(text: string, name = `tool-${++files}.ts`): Promise<ModuleUpstream> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return { kind: 'module', name: 'm', concurrency: 8, outcomes: [], credential: null, path, lookup: {}, poll: {} };
}

const all = `import * as tool from 'intendant/tool'; const { defineTool } = tool;`;
const executing = (body: string) =>
  moduleOf(`${all} export default defineTool({ execute: async (call, context) => { ${body} } });`);

function taskOf(upstream: ModuleUpstream, tool: Partial<ToolDefinition> = {}, args: JsonObject = { order: 'o1' }) {
  const request = {
    tool: toolOf(upstream, tool),
    args,
    key: 'key-1',
    intentId: 'intent-1',
    tenant: 'acme',
    runId: 'run_1',
  };
  return {
    upstream,
    request: { ...request, attemptId: 'attempt-1', sandbox: false, accepted: { operation: 'op-1' } },
    credential: { secret: 's3cret', header: { name: 'Authorization', value: 'Bearer s3cret' } },
  };
}
const call = async (body: string, tool: Partial<ToolDefinition> = {}) =>
  adapter.call(taskOf(await executing(body), tool), { mayStart: () => true });

test('a module is given everything about its call, in a copy of its own', async () => {
  const task = taskOf(await executing('const seen = { ...call }; call.args = 0; return { id: 1, ...seen };'));
  expect(await adapter.call(task, { mayStart: () => true })).toEqual({
    kind: 'executed',
    data: {
      id: 1,
      args: { order: 'o1' },
      key: 'key-1',
      attemptId: 'attempt-1',
      intentId: 'intent-1',
      tenant: 'acme',
      runId: 'run_1',
      sandbox: false,
      credential: 's3cret',
    },
  });
  await adapter.call(taskOf(await executing('call.args.order = "changed"; return { id: 1 };')), {
    mayStart: () => true,
  });
  expect(task.request.args).toEqual({ order: 'o1' });
});

test.each([
  { returned: '{ id: 1, when: new Date(0), no: undefined }', data: { id: 1, when: '1970-01-01T00:00:00.000Z' } },
  { returned: 'Object.assign(Object.create(null), { id: [null, true, "x"] })', data: { id: [null, true, 'x'] } },
])('$returned is a receipt', async ({ returned, data }) => {
  expect(await call(`return ${returned};`)).toEqual({ kind: 'executed', data });
});

test.each([
  'undefined',
  'null',
  '"done"',
  '{ ok: true }',
  '() => ({ id: 1 })',
  '{ id: () => 1 }',
  '{ id: Symbol() }',
  '{ id: 1n }',
  '{ id: NaN }',
  '{ id: new Map() }',
  'new (class Receipt { id = 1 })()',
  '{ get id() { throw new Error("broken") } }',
  '(() => { const loop = { id: 1 }; loop.self = loop; return loop; })()',
  'JSON.parse(\'{"id":\'.repeat(100) + "1" + "}".repeat(100))',
])('%s is no receipt: an effect is unknown, a read fails', async (returned) => {
  expect(await call(`return ${returned};`)).toMatchObject({ kind: 'unknown', cause: 'no_receipt' });
  expect(await call(`return ${returned};`, { effect: 'read' })).toMatchObject({ cause: 'output_invalid' });
});

test('a receipt is copied before anybody can change it', async () => {
  const task = taskOf(
    await executing('const receipt = { id: 1 }; setImmediate(() => { receipt.id = 2; }); return receipt;'),
  );
  expect(await adapter.call(task, { mayStart: () => true })).toEqual({ kind: 'executed', data: { id: 1 } });
});

test.each([
  {
    body: 'return tool.notExecuted("no funds");',
    verdict: { kind: 'not_executed', cause: 'refused', transient: false, retryAfterMs: null, detail: 'no funds' },
  },
  {
    body: 'return tool.notExecuted("busy", { transient: true, retryAfterMs: 50 });',
    verdict: { kind: 'not_executed', cause: 'refused', transient: true, retryAfterMs: 50, detail: 'busy' },
  },
  {
    body: 'throw new tool.NotExecuted("no funds");',
    verdict: { kind: 'not_executed', cause: 'refused', transient: false, detail: 'no funds' },
  },
  { body: 'throw new Error("lost");', verdict: { kind: 'unknown', cause: 'threw', detail: 'lost' } },
  { body: 'throw "text";', verdict: { kind: 'unknown', cause: 'threw', detail: 'text' } },
  { body: 'throw undefined;', verdict: { kind: 'unknown', cause: 'threw' } },
  { body: 'throw { name: "NotExecuted", reason: "x" };', verdict: { kind: 'unknown', cause: 'threw' } },
  { body: 'return tool.unknown("lost");', verdict: { kind: 'unknown', cause: 'module_unknown', detail: 'lost' } },
  { body: 'return tool.accepted({ op: 1 });', verdict: { kind: 'accepted', data: { op: 1 } } },
  { body: 'return tool.accepted(new Map());', verdict: { kind: 'unknown', cause: 'invalid_answer' } },
  { body: 'return tool.present({ id: 1 });', verdict: { kind: 'unknown', cause: 'invalid_answer' } },
  { body: 'return tool.absent();', verdict: { kind: 'unknown', cause: 'invalid_answer' } },
])('$body is $verdict.kind', async ({ body, verdict }) => {
  expect(await call(body)).toMatchObject(verdict);
});

test('a function that is not async is called the same way, and what it throws is unknown too', async () => {
  const upstream = await moduleOf(
    `${all} export default defineTool({ execute: () => { throw new Error('at once'); } });`,
  );
  expect(await adapter.call(taskOf(upstream), { mayStart: () => true })).toMatchObject({
    kind: 'unknown',
    cause: 'threw',
  });
});

test('a receipt that comes after the limit is told as late evidence, and nothing else is', async () => {
  const told: unknown[] = [];
  const slow = async (rest: string) => {
    const body = `await new Promise((go) => context.signal.addEventListener('abort', () => setImmediate(go))); ${rest}`;
    const options = { mayStart: () => true, onLate: (verdict: unknown) => told.push(verdict) };
    const limits = { connectMs: 1_000, callMs: 20, noticeMs: null, concurrency: 8, rate: null, cost: null };
    return adapter.call(taskOf(await executing(body), { limits }), options);
  };
  expect(await slow('return 0;')).toMatchObject({ kind: 'unknown', cause: 'call_timeout' });
  expect(await slow('throw new Error("no");')).toMatchObject({ kind: 'unknown' });
  expect(await slow('return tool.notExecuted("no");')).toMatchObject({ kind: 'unknown' });
  expect(await slow('return { id: 7 };')).toMatchObject({ kind: 'unknown' });
  await vi.waitFor(() => expect(told).toEqual([{ kind: 'executed', data: { id: 7 } }]));
});

test('what comes after the limit is ignored where nobody wants to know, be it a receipt or a failure', async () => {
  const limits = { ...toolOf(await executing('')).limits, callMs: 30 };
  const late = (end: string) =>
    call(`await new Promise((given) => context.signal.addEventListener('abort', given)); ${end}`, { limits });
  expect(await late('return { id: 1 };')).toMatchObject({ kind: 'unknown', cause: 'call_timeout' });
  // An unhandled rejection would fail this file.
  expect(await late('throw new Error(String(context.signal.reason));')).toMatchObject({ cause: 'call_timeout' });
});

describe('a lookup', () => {
  const ask = async (answer: string) => {
    const text = `${all} export default defineTool({ execute: () => null, lookup: async () => { ${answer} } });`;
    return adapter.lookup(taskOf(await moduleOf(text)), {});
  };

  test('says what its functions say', async () => {
    expect(await ask('return tool.present({ id: 1 });')).toEqual({ kind: 'present', data: { id: 1 } });
    expect(await ask('return tool.present({ id: 1 }, { excess: 2 });')).toEqual({
      kind: 'present',
      data: { id: 1 },
      excess: 2,
    });
    expect(await ask('return tool.absent();')).toEqual({ kind: 'absent' });
    expect(await ask('return tool.cannotTell("why");')).toEqual({ kind: 'cannot_tell', detail: 'why' });
    expect(await ask('return tool.partial([1], "1 of 2");')).toEqual({ kind: 'partial', data: [1], detail: '1 of 2' });
  });

  test.each([
    'return undefined;',
    'return false;',
    'return { kind: "absent" };',
    'return [];',
    'return tool.pending();',
    'return tool.notExecuted("no");',
    'return tool.present({ other: 1 });',
    'return tool.present(undefined);',
    'return tool.present({ id: 1 }, { excess: -1 });',
    'return tool.partial(() => 1, "1 of 2");',
    'throw new Error("down");',
    'throw tool.absent();',
  ])('cannot tell with "%s"', async (answer) => {
    expect(await ask(answer)).toMatchObject({ kind: 'cannot_tell' });
  });
});

describe('a poll', () => {
  const ask = async (answer: string) => {
    const text = `${all} export default defineTool({ execute: () => null, poll: async ({ accepted }) => { ${answer} } });`;
    return adapter.poll(taskOf(await moduleOf(text)), {});
  };

  test('says what its functions say', async () => {
    expect(await ask('return tool.done({ id: accepted.operation });')).toEqual({
      kind: 'executed',
      data: { id: 'op-1' },
    });
    expect(await ask('return tool.failed("given up");')).toEqual({ kind: 'failed', detail: 'given up' });
    expect(await ask('return tool.pending("in line");')).toEqual({ kind: 'pending', detail: 'in line' });
  });

  test.each([
    'return undefined;',
    'return true;',
    'return tool.absent();',
    'return tool.done({ other: 1 });',
    'throw tool.failed("x");',
  ])('leaves the request pending with "%s"', async (answer) => {
    expect(await ask(answer)).toMatchObject({ kind: 'pending' });
  });
});

describe('a module file', () => {
  const misfits = async (
    text: string,
    declared: Partial<ModuleUpstream> = {},
    preview: PreviewDefinition | null = null,
  ) => moduleMisfits({ ...(await moduleOf(text)), lookup: null, poll: null, ...declared }, 'module', preview);

  test.each(['ts', 'mts', 'js', 'mjs'])(
    'of the ending %s is loaded from any folder, with what it imports',
    async (ending) => {
      const place = `deep/${ending}`;
      await moduleOf(`export const id = 'from the neighbour';`, `${place}/neighbour.${ending}`);
      const upstream = await moduleOf(
        `import { defineTool } from 'intendant/tool'; import { id } from './neighbour.${ending}';
       export default defineTool({ execute: () => ({ id }) });`,
        `${place}/tool.${ending}`,
      );
      expect(await moduleMisfits({ ...upstream, lookup: null, poll: null }, 'module', null)).toEqual([]);
      expect(await adapter.call(taskOf(upstream), { mayStart: () => true })).toEqual({
        kind: 'executed',
        data: { id: 'from the neighbour' },
      });
    },
  );

  test('that is missing, does not compile or fails is told with its reason', async () => {
    const file = { path: ['upstream', 'module', 'file'] };
    const gone = { ...(await moduleOf('')), path: join(folder, 'gone.ts') };
    expect(await moduleMisfits(gone, 'module', null)).toEqual([
      { ...file, message: expect.stringMatching(/^cannot be loaded \(.*gone\.ts/s) },
    ]);
    expect(await misfits('export default {{')).toEqual([
      { ...file, message: expect.stringMatching(/^cannot be loaded/) },
    ]);
    expect(await misfits('throw new Error("no licence")')).toEqual([
      { ...file, message: expect.stringContaining('no licence') },
    ]);
    expect(await misfits(`${all} export default defineTool({ execute: 1 })`)).toEqual([
      { ...file, message: expect.stringContaining('execute must be a function') },
    ]);
  });

  test.each(['', 'export const execute = () => 1;', 'export default { execute: () => 1 };', 'export default () => 1;'])(
    'that says only "%s" has no proper default export',
    async (text) => {
      expect(await misfits(text)).toMatchObject([{ message: expect.stringContaining('has no proper default export') }]);
    },
  );

  test('must have the functions that its tool file declares', async () => {
    const text = `${all} export default defineTool({ execute: () => 1 });`;
    const preview = { request: { kind: 'module' }, use: 'real', before: null, after: 'data', token: null } as const;
    expect(await misfits(text, { lookup: {}, poll: {} }, preview)).toMatchObject([
      { path: ['upstream', 'lookup'] },
      { path: ['upstream', 'poll'] },
      { path: ['approval', 'preview'] },
    ]);
  });

  test('that is put right later is loaded then', async () => {
    const upstream = await moduleOf('export default 1', 'late.ts');
    const verdict = () =>
      adapter.call(taskOf({ ...upstream, path: join(folder, 'later.ts') }), { mayStart: () => true });
    expect(await verdict()).toMatchObject({
      kind: 'not_executed',
      cause: 'adapter_missing',
      transient: true,
      sent: false,
    });
    await moduleOf(`${all} export default defineTool({ execute: () => ({ id: 1 }) });`, 'later.ts');
    expect(await verdict()).toMatchObject({ kind: 'executed' });
  });
});
