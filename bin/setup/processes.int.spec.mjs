import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { identityOf } from './identity.mjs';
import { readJson } from './paths.mjs';
import { Processes } from './processes.mjs';
import { until } from './waiting.mjs';

let stateDir;
let processes;
beforeEach(() => {
  stateDir = fs.mkdtempSync(path.join(os.tmpdir(), 'processes-'));
  processes = new Processes(stateDir);
});
afterEach(async () => {
  await processes.killAll();
  fs.rmSync(stateDir, { recursive: true });
});

const script = (text) => ({ command: process.execPath, args: ['-e', text] });
const running = (pid) => identityOf(pid) !== undefined;
const told = (child) =>
  until(() => fs.readFileSync(child.logFile, 'utf8').trim(), { boundMs: 10_000, child, what: 'the child' });

describe('the processes of a launcher', () => {
  it('are stopped last started first, those that others need at the very end', async () => {
    const file = path.join(stateDir, 'order');
    const noting = (name) =>
      script(
        `process.on('SIGTERM', () => { fs.appendFileSync(${JSON.stringify(file)}, '${name} '); process.exit() }); setInterval(() => {}, 1e6); console.log('up')`,
      );
    const children = [
      processes.start({ name: 'database', ...noting('database'), stopLast: true }),
      processes.start({ name: 'bus', ...noting('bus') }),
      processes.start({ name: 'services', ...noting('services') }),
    ];
    await Promise.all(children.map(told));
    await processes.stopAll();
    expect(fs.readFileSync(file, 'utf8')).toBe('services bus database ');
    expect(children.some(({ pid }) => running(pid))).toBe(false);
  });

  it('are killed when they do not listen to SIGTERM, with all their children', async () => {
    const child = processes.start({
      name: 'deaf',
      ...script(
        `process.on('SIGTERM', () => {}); setInterval(() => {}, 1e6); console.log(require('child_process').spawn('sleep', ['600']).pid)`,
      ),
    });
    const grandchild = Number(await told(child));
    await processes.stop(child, 200);
    expect([child.ended, running(child.pid)]).toEqual(['signal SIGKILL', false]);
    await until(() => !running(grandchild), { boundMs: 5_000, what: 'the end of the grandchild' });
  });

  it.runIf(process.platform === 'linux')('are found at the end even when they made a group of their own', async () => {
    const child = processes.start({
      name: 'parent',
      ...script(
        `const c = require('child_process').spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }); c.unref(); console.log(c.pid)`,
      ),
    });
    const stray = Number(await told(child));
    await child.exited;
    expect(running(stray)).toBe(true);
    await processes.stopAll();
    expect(running(stray)).toBe(false);
  });

  it.runIf(process.platform === 'linux')('are found with children that wear no mark and are stopped', async () => {
    const child = processes.start({
      name: 'parent',
      ...script(
        `const { spawn } = require('child_process');
         const server = "const c = require('child_process').spawn('sleep', ['600'], { detached: true, env: {}, stdio: 'ignore' });" +
           "process.kill(c.pid, 'SIGSTOP'); console.log(c.pid); setInterval(() => {}, 1e6)";
         const stray = spawn(process.execPath, ['-e', server], { detached: true, stdio: ['ignore', 'inherit', 'ignore'] });
         stray.unref()`,
      ),
    });
    await child.exited;
    const stopped = Number(await told({ logFile: child.logFile }));
    expect(running(stopped)).toBe(true);
    onTestFinished(() => {
      if (running(stopped)) process.kill(stopped, 'SIGKILL');
    });
    await processes.stopAll();
    expect(running(stopped)).toBe(false);
  });

  it('that a killed launcher left are stopped by the next one', async () => {
    const code = `
      const { Processes } = await import(${JSON.stringify(new URL('./processes.mjs', import.meta.url).href)});
      const child = new Processes(${JSON.stringify(stateDir)}).start({ name: 'orphan', command: 'sleep', args: ['600'] });
      console.log(child.pid);`;
    const launcher = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const orphan = Number(String((await once(launcher.stdout, 'data'))[0]));
    launcher.kill('SIGKILL');
    await once(launcher, 'exit');
    expect(running(orphan)).toBe(true);
    expect(await processes.stopLeftovers()).toEqual(['orphan']);
    expect(running(orphan)).toBe(false);
  });

  it('leave alone a process that only has the number of one of theirs', async () => {
    const innocent = spawn('sleep', ['600']);
    try {
      const entry = { name: 'services', pid: innocent.pid, identity: 'of an earlier process', signal: 'SIGKILL' };
      fs.writeFileSync(
        path.join(stateDir, 'pids.json'),
        JSON.stringify({ mark: 'an earlier run', processes: [entry] }),
      );
      expect(await processes.stopLeftovers()).toEqual([]);
      expect(running(innocent.pid)).toBe(true);
      expect(readJson(path.join(stateDir, 'pids.json')).processes).toEqual([]);
    } finally {
      innocent.kill('SIGKILL');
    }
  });

  it('explain a failed command with the last lines of its log', async () => {
    const failing = processes.run({
      name: 'build',
      ...script(`console.error('line 3: no such thing'); process.exit(4)`),
    });
    await expect(failing).rejects.toThrow(/build ended with exit status 4\n\s+line 3: no such thing/);
  });

  it('do not run longer than their bound', async () => {
    const failing = processes.run({ name: 'hangs', ...script('setInterval(() => {}, 1e6)'), boundMs: 300 });
    await expect(failing).rejects.toThrow('hangs did not end within 0.3 s');
  });

  it('report a command that does not exist', async () => {
    await expect(processes.run({ name: 'missing', command: '/nonexistent', args: [] })).rejects.toThrow('ENOENT');
  });
});
