import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { aiSdkTools, answerFor, Intendant, modelName, openaiCall, type Run } from '@intendant/client';
import { type Meddler, startMeddler } from '@intendant/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stack } from './stack.js';

let stack: Stack;
let toolsDir: string;
const meddlers: Meddler[] = [];
beforeAll(async () => {
  toolsDir = fs.mkdtempSync(path.join(os.tmpdir(), 'client-models-'));
  for (const name of ['tools', 'tools-results']) {
    fs.cpSync(fileURLToPath(new URL(name, import.meta.url)), toolsDir, { recursive: true });
  }
  stack = await Stack.start({ toolsDir });
});
afterAll(async () => {
  await Promise.all(meddlers.map((each) => each.close()));
  await stack?.stop();
  fs.rmSync(toolsDir, { recursive: true, force: true });
});

const newRun = async () => new Intendant({ url: stack.url }).run(await stack.agent());
/** The tools of a run as the AI SDK would execute them for a model. */
async function harness(run: Run, options: Parameters<typeof aiSdkTools>[3] = {}) {
  const tools = aiSdkTools(await run.tools(), run, (schema) => schema, options);
  return (tool: string, args: object, toolCallId: string) =>
    tools[modelName(tool)]?.execute(args, { toolCallId, messages: [] }) ?? Promise.reject(new Error(`no ${tool}`));
}
const intentsOf = (run: Run) => stack.store.intents.list({ runId: run.runId, limit: 50 });
async function effectsOf(run: Run) {
  let effects = 0;
  for (const { intentId } of await intentsOf(run)) effects += stack.effects(await stack.keyOf(intentId)).length;
  return effects;
}
/** Without what stands between fences. */
const unfenced = (text: string) => text.replace(/^<<<outside (\w+)\n.*\noutside \1>>>$/gm, '');

test('a model whose call got no answer is told not to make it again, and finds out what became of it', async () => {
  const agent = await stack.agent();
  const meddler = await startMeddler(stack.url, async ({ method }, pass) => {
    const answer = await pass();
    return method === 'POST' ? { status: 502, body: '<html>' } : answer;
  });
  meddlers.push(meddler);
  const run = new Intendant({ url: meddler.url }).run(agent);
  const call = await harness(run, { wait: 1_000 });
  const told = await call('effects.keyed', { ref: run.runId }, 'call_1');
  expect(told).toBe(
    'effects.keyed got no answer: it may have happened or may still happen. Do not call it again. Step call_1 can be asked about.',
  );
  expect(await call('intendant.intent.get', { stepId: 'call_1' }, 'call_2')).toMatch(
    /^effects\.keyed: committed, it happened /,
  );
  expect(await call('intendant.intent.get', { stepId: 'call_9' }, 'call_3')).toMatch(
    /^Nothing is recorded as step call_9/,
  );
  expect(await effectsOf(run)).toBe(1);
});

test('a model whose call is still being worked on is told not to make it again, and waits for its outcome', async () => {
  const run = await newRun();
  stack.upstream.behave({ match: { bodyContains: run.runId }, behaviour: { delayMs: 500 } });
  const call = await harness(run, { wait: 0 });
  const told = await call('effects.keyed', { ref: run.runId }, 'call_1');
  expect(told).toMatch(/still being worked on[^\n]+Do not call it again; read intent \w+/);
  const intentId = /read intent (\w+)/.exec(told)?.[1];
  const outcome = await call('intendant.intent.get', { intentId, wait: 20 }, 'call_2');
  expect(outcome).toMatch(/^effects\.keyed: committed, it happened /);
  expect(await effectsOf(run)).toBe(1);
});

test('a turn that a model is asked for anew finds the calls of the first by their steps', async () => {
  const run = await newRun();
  const first = await harness(run, { stepOf: ({ tool }) => `turn-1.0.${tool}` });
  await first('effects.keyed', { ref: run.runId }, 'call_1');
  const again = await harness(run, { stepOf: ({ tool }) => `turn-1.0.${tool}` });
  expect(await again('effects.keyed', { ref: run.runId }, 'call_of_another_id')).toContain(
    'answered from the first call',
  );
  expect(await effectsOf(run)).toBe(1);
});

test('a model reads by its handle what was not shown, and nothing from outside without a fence', async () => {
  const run = await newRun();
  const call = await harness(run);
  const told = await call('notes.list', { length: 45 }, 'call_1');
  const handle = /^Handle: (\w+)$/m.exec(told)?.[1];
  const ids = new Set<string>();
  for (let cursor: string | undefined, page = 2; ; page += 1) {
    const text = await call('intendant.result.get', { handle, cursor }, `call_${page}`);
    for (const [id] of text.matchAll(/note-\d+/g)) ids.add(id);
    expect(unfenced(text)).not.toContain('note-');
    cursor = /next page has the cursor "(\d+)"/.exec(text)?.[1];
    if (cursor === undefined) break;
  }
  expect(ids.size).toBe(45);
  const one = await call('intendant.result.get', { handle, pointer: '/items/44/id' }, 'call_9');
  expect(one).toMatch(/^notes\.list, \/items\/44\/id \(text of 7\)\..*\n\{"data":"note-44"\}$/ms);
  expect(unfenced(told)).not.toContain('note-');
});

test.each([
  ['a name twice', '{"ref":"a","ref":"b"}'],
  ['a number that changes when it is read', '{"ref":"a","amount":12345678901234567890}'],
  ['no JSON', '{"ref":"a"'],
  ['no object', '["a"]'],
  ['more than one value', '{"ref":"a"},"sandbox":true'],
  ['nothing', ''],
])('a model that writes %s is told so, and nothing is recorded', async (_, written) => {
  const run = await newRun();
  const said = openaiCall({ id: 'call_1', function: { name: 'effects-keyed', arguments: written } });
  expect(await answerFor(run, said)).toMatch(
    /^Error invalid_\w+: [^\n]+\nCorrect the arguments before you call it again\./,
  );
  expect(await intentsOf(run)).toEqual([]);
});

test.each([
  ['intendant.intent.get', {}, 'invalid_arguments'],
  ['intendant.intent.get', { intentId: '../runs' }, 'not_found'],
  ['intendant.result.get', {}, 'not_found'],
  ['intendant.result.get', { handle: 'res_1', pointer: 'x' }, 'invalid_'],
])('a model that asks wrongly (%s %j) is told what would be right', async (tool, args, code) => {
  const run = await newRun();
  expect(await answerFor(run, { tool, args, stepId: 'call_1' })).toMatch(new RegExp(`^Error ${code}`));
});
