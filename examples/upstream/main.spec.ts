import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { transformFileSync } from '@swc/core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'demo-upstream-'));
const ledgerFile = join(folder, 'ledger.jsonl');
let child: ChildProcess | undefined;

beforeAll(() => {
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  for (const name of readdirSync(import.meta.dirname).filter((file) => /^[a-z-]+\.ts$/.test(file))) {
    const { code } = transformFileSync(join(import.meta.dirname, name), {
      jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    });
    writeFileSync(join(folder, name.replace(/\.ts$/, '.js')), code);
  }
});

afterEach(() => child?.kill('SIGKILL'));
afterAll(() => rmSync(folder, { recursive: true }));

async function start(env: Record<string, string> = {}): Promise<string> {
  child = spawn(process.execPath, [join(folder, 'main.js')], {
    env: { ...process.env, DEMO_LEDGER: ledgerFile, DEMO_UPSTREAM_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const [line] = (await once(output, 'line')) as [string];
  return JSON.parse(line).listening;
}

describe('the demo upstream as a process', () => {
  it('loses nothing when it is killed after an effect, and closes on SIGTERM', async () => {
    const url = await start();
    const rule = { match: { path: '/mails' }, behaviour: { then: 'hang' } };
    await fetch(`${url}/__control`, { method: 'POST', body: JSON.stringify(rule) });
    const body = JSON.stringify({ to: 'a@b.example', subject: 'Hello', text: 'Hi' });
    const unanswered = fetch(`${url}/mails`, { method: 'POST', body, headers: { 'idempotency-key': 'k1' } });
    const failed = expect(unanswered).rejects.toThrow();
    await fetch(`${url}/__wait?kind=effect&path=/mails`);
    child?.kill('SIGKILL');
    await failed;
    const kinds = readFileSync(ledgerFile, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).kind);
    expect(kinds).toEqual(['request', 'effect']);

    const again = await start();
    const found = await fetch(`${again}/mails?reference=k1`).then((response) => response.json());
    expect(found).toMatchObject({ data: [{ message_id: 'msg_1' }] });
    child?.kill('SIGTERM');
    const [code] = await once(child as ChildProcess, 'exit');
    expect(code).toBe(0);
  });

  // macOS knows 127.0.0.1 only.
  it.skipIf(process.platform === 'darwin')(
    'listens where it is told to, and on the loopback interface when it is not',
    async () => {
      const reaches = (url: string, host: string) => {
        const asked = new URL('/orders/ord_1', url);
        asked.hostname = host;
        return fetch(asked).then(
          ({ status }) => status === 200,
          () => false,
        );
      };
      // Every address of 127.0.0.0/8 is this machine; only a server on all of them answers at the second one.
      const narrow = await start();
      expect([await reaches(narrow, '127.0.0.1'), await reaches(narrow, '127.0.0.2')]).toEqual([true, false]);
      child?.kill('SIGKILL');
      const wide = await start({ DEMO_UPSTREAM_HOST: '0.0.0.0' });
      expect([await reaches(wide, '127.0.0.1'), await reaches(wide, '127.0.0.2')]).toEqual([true, true]);
    },
  );
});
