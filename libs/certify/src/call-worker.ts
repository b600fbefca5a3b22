import { writeSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { WorkerLine, WorkerOrder } from './kill-at.js';
import { openWayOut } from './way-out.js';

/** Nobody waits longer for the kill; a worker must not outlive a campaign that died. */
const longestWaitMs = 30_000;

/** At once and whole, since the next thing that happens may be SIGKILL. */
function tell(line: WorkerLine): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

/** Stops everything, timers and sockets too, until the kill comes. */
function freeze(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, longestWaitMs);
  process.exit(1);
}

/** One call as the dispatcher makes it, in a process that can be killed in the middle. */
async function main(): Promise<void> {
  const { request, boundary, env } = JSON.parse(await text(process.stdin)) as WorkerOrder;
  const upstreams = openWayOut(request.tool, env);
  const verdict = await upstreams.call(request, {
    mayStart: () => {
      if (boundary !== 'before the first byte') return true;
      tell({ at: 'start' });
      freeze();
      return false;
    },
    onSend: () => tell({ at: 'sent' }),
  });
  tell({ at: 'verdict', verdict });
  freeze();
}

await main();
