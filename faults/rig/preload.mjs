// Loaded before a service of the fault rig; no part of the product. It moves the clock of the process by
// RIG_CLOCK_OFFSET_MS, blocks its event loop on SIGWINCH for the time that RIG_BLOCK_FILE tells, writes down in RIG_SENT_FILE
// when the headers of each attempt left, and ends it with the rig.
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync, readFileSync } from 'node:fs';

const TrueDate = Date;

const offsetMs = Number(process.env.RIG_CLOCK_OFFSET_MS ?? 0);
if (offsetMs !== 0) {
  const now = () => TrueDate.now() + offsetMs;
  globalThis.Date = new Proxy(TrueDate, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new TrueDate(now()).toString(),
    get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
  });
}

const sentFile = process.env.RIG_SENT_FILE;
if (sentFile !== undefined) {
  subscribe('undici:client:sendHeaders', ({ headers }) => {
    const attemptId = /^x-attempt-id: *(\S+)/im.exec(headers)?.[1];
    if (attemptId !== undefined) appendFileSync(sentFile, `${JSON.stringify({ attemptId, at: TrueDate.now() })}\n`);
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
