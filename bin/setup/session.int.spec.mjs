import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';

const session = fileURLToPath(new URL('./session.mjs', import.meta.url));
const progress = fileURLToPath(new URL('./progress.mjs', import.meta.url));

const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test('a launcher whose output nobody reads any more ends, and so does everything it started', async () => {
  const stateDir = fs.mkdtempSync(path.join(os.tmpdir(), 'session-'));
  onTestFinished(() => fs.rmSync(stateDir, { recursive: true, force: true }));
  const script = `
    import { runSession } from ${JSON.stringify(session)};
    import { say } from ${JSON.stringify(progress)};
    await runSession({ command: 'spec', stateDir: ${JSON.stringify(stateDir)}, main: async (session) => {
      const child = session.processes.start({ name: 'sleeper', command: process.execPath,
        args: ['-e', 'setInterval(() => {}, 1000)'], stdio: 'ignore' });
      console.log(child.pid);
      setInterval(() => say('still here'), 20);
      await child.exited;
      return 0;
    } });`;
  const launcher = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await once(createInterface({ input: launcher.stdout }), 'line');
  expect(isAlive(Number(line))).toBe(true);
  launcher.stdout.destroy();
  const [status] = await once(launcher, 'exit');
  expect(status).toBe(1);
  await vi.waitFor(() => expect(isAlive(Number(line))).toBe(false), 5_000);
});
