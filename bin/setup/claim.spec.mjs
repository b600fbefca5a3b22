import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claim, exclusively } from './claim.mjs';
import { identityOf } from './identity.mjs';

let directory;
let file;
beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'claim-'));
  file = path.join(directory, 'lock');
});
afterEach(() => fs.rmSync(directory, { recursive: true }));

describe('a claim', () => {
  it('is refused while a living process has it, and free again after its release', () => {
    const { release } = claim(file);
    expect(claim(file)).toEqual({ holder: process.pid });
    release();
    expect(claim(file).release).toBeTypeOf('function');
  });

  it('of a process that was killed is taken over', async () => {
    const child = spawn('sleep', ['60']);
    const owner = { pid: child.pid, identity: identityOf(child.pid) };
    fs.writeFileSync(file, JSON.stringify(owner));
    expect(claim(file)).toEqual({ holder: child.pid });
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(claim(file).release).toBeTypeOf('function');
    expect(fs.readdirSync(directory)).toEqual(['lock']);
  });

  it('of a dead process whose number another one has now is taken over', () => {
    fs.writeFileSync(file, JSON.stringify({ pid: process.pid, identity: 'of an earlier process' }));
    expect(claim(file).release).toBeTypeOf('function');
  });

  it('lets two pieces of work run one after the other', async () => {
    const order = [];
    let finish;
    const first = exclusively(
      file,
      () =>
        new Promise((resolve) => {
          order.push('first');
          finish = resolve;
        }),
      () => {},
    );
    const second = exclusively(
      file,
      async () => order.push('second'),
      (holder) => {
        order.push(`waits for ${holder === process.pid}`);
        finish();
      },
    );
    await Promise.all([first, second]);
    expect(order).toEqual(['first', 'waits for true', 'second']);
    expect(fs.existsSync(file)).toBe(false);
  });
});
