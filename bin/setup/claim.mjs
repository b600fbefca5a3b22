import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { identityOf } from './identity.mjs';
import { readJson } from './paths.mjs';

const pollMs = 200;

/**
 * Claims a file for this process. Returns `{ release }`, or `{ holder }` (a pid) when a living process has it.
 * A claim of a dead process is taken over.
 */
export function claim(file) {
  const mine = `${file}.${process.pid}`;
  fs.writeFileSync(mine, JSON.stringify({ pid: process.pid, identity: identityOf(process.pid) }), { mode: 0o600 });
  try {
    for (;;) {
      // link(2) fails when the target exists, so exactly one of several claimers wins.
      if (linked(mine, file)) return { release: () => fs.rmSync(file, { force: true }) };
      const owner = readJson(file);
      if (owner && identityOf(owner.pid) === owner.identity) return { holder: owner.pid };
      dropStale(file, `${mine}.stale`);
    }
  } finally {
    fs.rmSync(mine, { force: true });
  }
}

/** Runs `work` while holding the claim; waits while another process of this clone has it. */
export async function exclusively(file, work, onWait) {
  let told = false;
  for (;;) {
    const { release, holder } = claim(file);
    if (release) {
      try {
        return await work();
      } finally {
        release();
      }
    }
    if (!told) onWait(holder);
    told = true;
    await delay(pollMs);
  }
}

/** Moves a dead claim away. Another claimer may have replaced it since it was read: a living one is put back. */
function dropStale(file, aside) {
  try {
    fs.renameSync(file, aside);
  } catch {
    return;
  }
  const owner = readJson(aside);
  if (owner && identityOf(owner.pid) === owner.identity) linked(aside, file);
  fs.rmSync(aside, { force: true });
}

function linked(from, to) {
  try {
    fs.linkSync(from, to);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}
