import { existsSync, readFileSync } from 'node:fs';
import { chmod, cp, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from './eventually.js';
import { runService } from './run-service.js';
import { Stack } from './stack.js';

const examples = fileURLToPath(new URL('../../examples/tools-local', import.meta.url));
const head = (name: string) => `
apiVersion: intendant/v1
name: ${name}
version: 1
description: Test tool on this machine.
effect: write
permission: test:use
input: { type: object, additionalProperties: false, properties: {} }
output: { type: object, required: [entry], properties: { entry: { type: integer } } }
limits: { connect: 100ms, call: 2s }
`;

/** Posts an entry as soon as the file \`go\` is there, and answers. */
const slowProgram = `
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
writeFileSync('slow.pid', String(process.pid));
while (!existsSync('go')) await setTimeout(10);
process.argv.splice(2, 0, 'post', '4711');
await import('./accounts.mjs');
`;

let folder: string;
let stack: Stack;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'intendant-local-'));
  await cp(examples, folder, { recursive: true });
  await writeFile(path.join(folder, 'slow.mjs'), slowProgram);
  await writeFile(
    path.join(folder, 'slow.post.tool.yaml'),
    `${head('slow.post')}
upstream:
  process:
    argv: [node, slow.mjs]
    env: { ACCOUNTS_BOOK: accounts.jsonl }
    input: '{ "reference": key, "amount": 1, "text": "slow" }'
  guarantee: lookup
  maxProcessing: 1s
  settle: 1100ms
  lookup:
    argv: [node, accounts.mjs, find, --, "{{key}}"]
    present: $count(data.entries) > 0
    receipt: data.entries[0]
    authoritative: true
    spacing: 200ms
`,
  );
  await writeFile(
    path.join(folder, 'late.program.tool.yaml'),
    `${head('late.program')}
retry: { attempts: 100, backoff: 50ms }
upstream: { process: { argv: [./late-program] }, guarantee: none }
`,
  );
  stack = await Stack.start({
    services: ['policy', 'outbox-relay', 'dispatcher', 'reconciler'],
    toolsDir: folder,
    env: { ACCOUNTS_BOOK: 'accounts.jsonl', NOTES_DIR: path.join(folder, 'notes') },
  });
});
afterAll(async () => {
  await stack.stop();
  await rm(folder, { recursive: true });
});

const has = (name: string) => existsSync(path.join(folder, name));
const lines = (name: string) =>
  has(name)
    ? readFileSync(path.join(folder, name), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];
const entriesOf = (key: string) => lines('accounts.jsonl').filter((line) => line.includes(key));

test('the example of a program posts one entry, under the key of the intent', async () => {
  const agent = await stack.agent();
  const args = { account: '4400', amount_cents: -2499, text: '$(touch made) "refund"' };
  const result = await agent.submit('accounts.entry.post', args, { stepId: 's1', wait: '10s' });
  expect(result).toMatchObject({ status: 'committed', data: { entry: expect.any(Number) } });
  const again = await agent.submit('accounts.entry.post', args, { stepId: 's1', wait: '10s' });
  expect(again).toMatchObject({ intentId: result.intentId, replayed: true });
  const entries = entriesOf(await stack.keyOf(result.intentId));
  expect(entries.map((line) => JSON.parse(line))).toMatchObject([{ account: '4400', amount: -2499, text: args.text }]);
  expect(has('made')).toBe(false);
});

test('the example of a module leaves one note', async () => {
  const agent = await stack.agent();
  const result = await agent.submit('notes.note.create', { room: 7, text: 'Late arrival.' }, { wait: '10s' });
  expect(result).toMatchObject({ status: 'committed', data: { note_id: expect.any(String) } });
  expect(await readdir(path.join(folder, 'notes', 'real'))).toEqual([`${await stack.keyOf(result.intentId)}.json`]);
});

test('what a process does after its dispatcher was killed is found by the lookup, and not done again', async () => {
  const agent = await stack.agent();
  const submitted = await agent.submit('slow.post', {}, {});
  await eventually('the process has started', () => has('slow.pid'));
  const dispatcher = stack.services.find(({ name }) => name === 'dispatcher');
  dispatcher?.kill('SIGKILL');
  await dispatcher?.ended;
  await writeFile(path.join(folder, 'go'), '');
  await stack.launch('dispatcher');
  expect(await stack.settled(submitted.intentId)).toBe('committed');
  const intent = await stack.store.intents.load(submitted.intentId);
  expect(intent).toMatchObject({ proof: 'lookup', attempts: [expect.anything()] });
  expect(entriesOf(await stack.keyOf(submitted.intentId))).toHaveLength(1);
});

test('an intent whose program is missing is not lost, and runs once when the program is there (S14)', async () => {
  const agent = await stack.agent();
  const { intentId } = await agent.submit('late.program', {}, {});
  const attempts = async () => (await stack.store.intents.load(intentId))?.attempts ?? [];
  const missing = await eventually('an attempt found no program', async () =>
    (await attempts()).find(({ cause }) => cause === 'adapter_missing'),
  );
  expect(missing).toBeDefined();
  // Complete before it can be started.
  await writeFile(path.join(folder, 'unready'), `#!/bin/sh\necho ran >> ran\necho '{"entry":1}'\n`);
  await chmod(path.join(folder, 'unready'), 0o755);
  await rename(path.join(folder, 'unready'), path.join(folder, 'late-program'));
  expect(await stack.settled(intentId)).toBe('committed');
  expect(lines('ran')).toEqual(['ran']);
});

test('a module that does not load stops the start, with file, line and field', async () => {
  const tools = await mkdtemp(path.join(os.tmpdir(), 'intendant-local-'));
  await writeFile(
    path.join(tools, 'a.b.tool.yaml'),
    `${head('a.b')}upstream: { module: { file: missing.ts }, guarantee: none }\n`,
  );
  for (const name of ['dispatcher', 'reconciler']) {
    const { how, stderr } = await runService(name, { ...stack.environment(), INTENDANT_TOOLS_DIR: tools });
    expect(how).toBe(1);
    expect(stderr).toMatch(
      /a\.b\.tool\.yaml:11 upstream\.module\.file: cannot be loaded \(Cannot find module .*missing\.ts/,
    );
    expect(stderr).not.toMatch(/Require stack|^\s+at /m);
  }
  await rm(tools, { recursive: true });
});
