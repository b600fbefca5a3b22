import { execFileSync } from 'node:child_process';
import { eventually } from './eventually.js';
import type { Service } from './service.js';

/** Resolves when a process that was told to stop (SIGSTOP) has stopped. */
export async function stopped({ name, pid }: Service): Promise<void> {
  await eventually(`${name} has stopped`, () => {
    const state = execFileSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' });
    return state.startsWith('T');
  });
}
