import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from './paths.mjs';

/** In place of a launcher: nothing but what a launcher does with a signal. */
const standIn = `
  process.on('SIGTERM', () => { console.log('stopping'); process.exit(143); });
  setInterval(() => {}, 60_000);
  console.log(process.pid);
`;
const launchers = ['start', 'test', 'bench', 'faults'];
let folder;
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'npm-signals-'));
  const { scripts } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', scripts }));
  fs.mkdirSync(path.join(folder, 'bin'));
  for (const name of launchers) fs.writeFileSync(path.join(folder, 'bin', `${name}.mjs`), standIn);
});
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

// npm passes it on to its shell, and a shell that waits for its child keeps it to itself.
test.each(launchers)('a SIGTERM for npm run %s reaches what it has started', async (name) => {
  const npm = spawn('npm', ['run', '--silent', name], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(npm, 'exit');
  const lines = createInterface({ input: npm.stdout })[Symbol.asyncIterator]();
  const pid = Number((await lines.next()).value);
  npm.kill('SIGTERM');
  await ended;
  // Without the signal, what was started lives on and says nothing.
  const heard = await Promise.race([lines.next(), silence()]);
  if (heard.value !== 'stopping') process.kill(pid, 'SIGKILL');
  expect(heard.value).toBe('stopping');
});

const silence = () => new Promise((resolve) => setTimeout(() => resolve({ value: 'nothing' }), 5_000).unref());
