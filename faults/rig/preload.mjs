// Loaded before a service of the fault rig; no part of the product. It moves the clock of the process by
// RIG_CLOCK_OFFSET_MS, blocks its event loop on SIGWINCH for the time that RIG_BLOCK_FILE tells, and ends it with the rig.
import { readFileSync } from 'node:fs';

const offsetMs = Number(process.env.RIG_CLOCK_OFFSET_MS ?? 0);
if (offsetMs !== 0) {
  const TrueDate = Date;
  const now = () => TrueDate.now() + offsetMs;
  globalThis.Date = new Proxy(TrueDate, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new TrueDate(now()).toString(),
    get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
  });
}

// Not SIGUSR2: Nest takes that, as nine others, for the order to shut down.
process.on('SIGWINCH', () => {
  const ms = Number(readFileSync(process.env.RIG_BLOCK_FILE, 'utf8'));
  // Waits instead of spinning, so that it takes the event loop of this process and no core from the others.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
});

// The rig holds the other end for as long as it lives, however it ends.
process.stdin.on('close', () => process.kill(process.pid, 'SIGKILL'));
process.stdin.on('error', () => undefined);
process.stdin.resume();
process.stdin.unref();
