import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stack, serviceKey } from './stack.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
let stack: Stack;
let folder: string;
beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-docs-'));
  stack = await Stack.start();
});
afterAll(async () => {
  await stack?.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** All examples of a page in one language, in order, as one program. */
function examples(page: string, language: string): string {
  const markdown = fs.readFileSync(path.join(root, 'docs', page), 'utf8');
  const found = [...markdown.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, code]) => code);
  expect(found.length).toBeGreaterThan(3);
  return found.join('\n');
}

async function run(command: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, INTENDANT_URL: stack.url, INTENDANT_SERVICE_KEY: serviceKey };
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

/** The client as its users install it. */
function installClient(): void {
  const installed = path.join(folder, 'node_modules', '@intendant', 'client');
  fs.mkdirSync(installed, { recursive: true });
  const source = path.join(root, 'clients', 'typescript');
  fs.copyFileSync(path.join(source, 'package.json'), path.join(installed, 'package.json'));
  const compiler = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [compiler, '-p', source, '--outDir', path.join(installed, 'dist')]);
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

test('the examples in TypeScript do what the page says, with the client as it is installed', async () => {
  installClient();
  const program = path.join(folder, 'example.mjs');
  fs.writeFileSync(program, examples('agents-typescript.md', 'js'));
  const events = ['recorded', 'authorized', 'attempt_started', 'committed'];
  const expected = [
    ...['true', 'committed executed', 'invalid_arguments fix_arguments', 'true'],
    ...[expect.stringMatching(/^effects\.keyed: committed, it happened /), expect.stringMatching(/^\{"effect_id":/)],
    'text true',
    ...[...events, ...events].map((type) => `${type} true`),
  ];
  expect((await run(process.execPath, [program])).trim().split('\n')).toEqual(expected);
  // Bun is not installed with the project; where there is one, it has to do the same.
  const bun = (process.env['PATH'] ?? '').split(':').find((each) => fs.existsSync(path.join(each, 'bun')));
  if (bun !== undefined) expect((await run(path.join(bun, 'bun'), [program])).trim().split('\n')).toEqual(expected);
});
