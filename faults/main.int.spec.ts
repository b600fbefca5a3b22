import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, it, vi } from 'vitest';
import { root } from './rig/root.js';
import { signalIfThere } from './rig/server-process.js';

let home: string;
let rig: ChildProcess | undefined;

beforeEach(() => {
  home = mkdtempSync(path.join(os.tmpdir(), 'intendant-faults-'));
});

afterEach(() => {
  // What it started is in its group; nothing need be left of it.
  if (rig?.pid) signalIfThere(-rig.pid, 'SIGKILL');
  rmSync(home, { recursive: true, force: true });
});

it('tells what there is when it is ended, though a case does not come to its end', async () => {
  // A round is held up here for longer than anybody waits.
  writeFileSync(path.join(home, 'initdb'), '#!/bin/sh\nsleep 60\n', { mode: 0o755 });
  const machine = {
    ...{ postgresBin: home, postgresAccount: null, postgresHome: home },
    ...{ nats: path.join(home, 'none'), oldNats: null, stateDir: home, commit: null },
  };
  writeFileSync(path.join(home, 'run.json'), JSON.stringify(machine));
  rig = spawn(process.execPath, [path.join(root, 'dist', 'faults', 'main.js'), '--case', 'round 7,round 8'], {
    env: { PATH: process.env['PATH'], RUN_FILE: path.join(home, 'run.json') },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let said = '';
  rig.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await vi.waitUntil(() => said.includes('faults: 2 cases'), 20_000);
  rig.kill('SIGTERM');
  await vi.waitUntil(() => said.includes('2 of 2 cases not run'), 5_000);
});
