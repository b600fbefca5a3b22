import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installNats } from './nats-command.js';
import { shipped } from './shipped.js';
import { Stack, serviceKey } from './stack.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
let stack: Stack;
let folder: string;
beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-docs-'));
  stack = await Stack.start(shipped);
});
afterAll(async () => {
  await stack?.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** All examples of a page in one language, in order, as one program. */
function examples(page: string, language: string, atLeast = 4): string {
  const markdown = fs.readFileSync(path.join(root, 'docs', page), 'utf8');
  const found = [...markdown.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, code]) => code);
  expect(found.length).toBeGreaterThanOrEqual(atLeast);
  return found.join('\n');
}

async function run(command: string, args: readonly string[], more: Record<string, string> = {}): Promise<string> {
  const env = {
    ...process.env,
    ...{ INTENDANT_URL: stack.url, INTENDANT_SERVICE_KEY: serviceKey, INTENDANT_TENANT: 'acme' },
    ...{ NATS_URL: stack.nats.url, PATH: `${folder}:${process.env['PATH']}`, TMPDIR: folder },
    ...more,
  };
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  expect([code, stderr.split('\n').filter((line) => line !== '' && !isOfNats(line))]).toEqual([0, []]);
  return stdout;
}

/** What the NATS CLI says itself goes there, too. */
function isOfNats(line: string): boolean {
  return /^\d\d:\d\d:\d\d (Published|Stored)/.test(line);
}

/** The client as the page says to install it, without a registry. */
async function installClient(): Promise<void> {
  fs.writeFileSync(path.join(folder, 'package.json'), '{"private": true}');
  await run('sh', ['-eu', '-c', examples('agents-typescript.md', 'sh', 1)], {
    ...{ INTENDANT_CLONE: root, YOUR_PROJECT: folder, npm_config_cache: path.join(folder, '.npm') },
    ...{ npm_config_offline: 'true', npm_config_audit: 'false', npm_config_loglevel: 'error' },
  });
}

test('the examples for HTTP do what the page says', async () => {
  const said = await run('sh', ['-eu', '-c', examples('agents-http.md', 'sh')]);
  expect(said).toMatch(/^opened run_/);
  expect(said).toContain('HTTP/1.1 200 OK');
  expect(said).toMatch(/"status":"committed"/);
  expect(said).toContain('"replayed":true');
  expect(said).toContain('the intent is as we know it: 304');
  for (const event of ['recorded', 'authorized', 'attempt_started', 'committed', 'end']) {
    expect(said).toContain(`event: ${event}\n`);
  }
  expect(said).toContain('after the last event: 204');
  expect(said).toContain('"code":"run_closed"');
});

test('the examples for NATS do what the page says, with a stand-in for the NATS CLI', async () => {
  installNats(folder);
  const said = await run('sh', ['-eu', '-c', examples('agents-nats.md', 'sh')]);
  expect(said).toMatch(/^opened run_/);
  const lines = said.split('\n').slice(1);
  const [tools, first, replayed, event, second] = lines;
  expect(JSON.parse(tools ?? '')).toMatchObject({
    tools: expect.arrayContaining([expect.objectContaining({ name: 'orders.get' })]),
  });
  expect(JSON.parse(first ?? '')).toMatchObject({ stepId: 'step-1', status: 'committed', replayed: false });
  expect(replayed).toBe('"replayed":true');
  expect(JSON.parse(event ?? '')).toMatchObject({ type: 'intendant.intent.committed', data: { stepId: 'step-2' } });
  expect(JSON.parse(second ?? '')).toMatchObject({ stepId: 'step-2', status: 'committed', replayed: true });
});

test('the examples in TypeScript do what the page says, with the client as it is installed', async () => {
  await installClient();
  const program = path.join(folder, 'example.mjs');
  fs.writeFileSync(program, examples('agents-typescript.md', 'js'));
  const events = ['recorded', 'authorized', 'attempt_started', 'committed'];
  const expected = [
    ...['true', 'committed executed', 'invalid_arguments fix_arguments', 'true'],
    ...[expect.stringMatching(/^orders\.get: committed, it happened /), expect.stringMatching(/^\{"order_id":"ord_1"/)],
    'text true',
    ...[...events, ...events].map((type) => `${type} true`),
  ];
  expect((await run(process.execPath, [program])).trim().split('\n')).toEqual(expected);
  // Bun is not installed with the project; where there is one, it has to do the same.
  const bun = (process.env['PATH'] ?? '').split(':').find((each) => fs.existsSync(path.join(each, 'bun')));
  if (bun !== undefined) expect((await run(path.join(bun, 'bun'), [program])).trim().split('\n')).toEqual(expected);
});
