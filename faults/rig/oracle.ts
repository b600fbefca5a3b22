import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { LedgerEntry } from '../history/ledger.js';
import { endWithRig, environmentOfRig } from './children.js';
import type { Oracle } from './installation.js';
import { root } from './root.js';

export interface RigOracle extends Oracle {
  readonly port: number;
  close(): Promise<void>;
}

/** The demo upstream as a process of its own: what it writes down is not held up by what the rig is busy with. */
export async function startOracle(dir: string): Promise<RigOracle> {
  const ledgerFile = path.join(dir, 'ledger.jsonl');
  const log = openSync(path.join(dir, 'logs', 'upstream.log'), 'a');
  const child = spawn(
    process.execPath,
    [
      '--max-old-space-size=128',
      '--import',
      path.join(root, 'faults', 'rig', 'preload.mjs'),
      path.join(root, 'dist', 'examples', 'upstream', 'main.js'),
    ],
    { env: { ...environmentOfRig(), DEMO_LEDGER: ledgerFile }, stdio: ['pipe', 'pipe', log] },
  );
  closeSync(log);
  endWithRig(child);
  const exited = once(child, 'exit');
  const first = once(createInterface({ input: child.stdout as Readable }), 'line').then(([line]) => String(line));
  const line = await Promise.race([
    first,
    exited.then(([how]) => {
      throw new Error(`the upstream ended (${how}) before it listened; see logs/upstream.log`);
    }),
  ]);
  const url = (JSON.parse(line) as { listening: string }).listening;

  const order = async (where: string, body: unknown) => {
    const answer = await fetch(url + where, { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`the upstream refused ${JSON.stringify(body)}: ${await answer.text()}`);
    await answer.arrayBuffer();
  };
  return {
    url,
    port: Number(new URL(url).port),
    behave: (rule) => order('/__control', rule),
    behaveWell: () => order('/__reset', {}),
    // Each line is in the file before anything is done about it.
    ledger: async () =>
      readFileSync(ledgerFile, 'utf8')
        .split('\n')
        .filter((each) => each !== '')
        .map((each) => JSON.parse(each) as LedgerEntry),
    close: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
