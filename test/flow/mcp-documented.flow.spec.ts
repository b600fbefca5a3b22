import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shipped } from './shipped.js';
import { Stack } from './stack.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(new URL('../../docs/agents-mcp.md', import.meta.url), 'utf8');
const run = promisify(execFile);

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.start(shipped);
});
afterAll(() => stack?.stop());

/** The one example of that language on the page. */
function example(language: string): string {
  const found = [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, text]) => text ?? '',
  );
  expect(found, language).toHaveLength(1);
  return found[0] ?? '';
}

async function environment(): Promise<Record<string, string>> {
  const { token } = await stack.agent();
  return { PATH: process.env.PATH ?? '', INTENDANT_URL: stack.url, INTENDANT_RUN_TOKEN: token };
}

test('the configuration of the page connects a client', async () => {
  const env = await environment();
  const filled = example('json').replace(/\$\{(\w+)\}/g, (_, name: string) => env[name] ?? '');
  const { url, headers } = JSON.parse(filled).mcpServers.intendant;
  const client = new Client({ name: 'documented', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('orders.get');
  await client.close();
});

test('the program of the page lists and calls', async () => {
  const args = ['--input-type=module', '--eval', example('js')];
  const { stdout } = await run(process.execPath, args, { cwd: root, env: await environment() });
  expect(stdout).toBe('true false committed\n');
});

test('the command of the page calls', async () => {
  const { stdout } = await run('bash', ['-ec', example('sh')], { env: await environment() });
  expect(stdout).toMatch(/^data: \{.*"status":"committed"/m);
});
