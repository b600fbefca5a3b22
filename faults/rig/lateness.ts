import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';

/** How late the rig's own part of a round was at most, in ms: what it holds up looks like a fault that nobody ordered. */
export interface Lateness {
  /** Its event loop, through which all wires go. */
  readonly rigMs: number;
  /** An answer of the upstream, past all wires. */
  readonly upstreamMs: number;
}

const everyMs = 250;

/** Watches until it is stopped. */
export function watchLateness(upstreamUrl: string): { stop(): Promise<Lateness> } {
  const loop = monitorEventLoopDelay({ resolution: 20 });
  loop.enable();
  const end = new AbortController();
  let upstreamMs = 0;
  const watching = (async () => {
    while (!end.signal.aborted) {
      const asked = performance.now();
      // Whatever it answers to an address that it does not have.
      const answer = await fetch(`${upstreamUrl}/__late`).catch(() => null);
      await answer?.arrayBuffer();
      upstreamMs = Math.max(upstreamMs, performance.now() - asked);
      await pause(everyMs, undefined, { signal: end.signal }).catch(() => undefined);
    }
  })();
  return {
    stop: async () => {
      loop.disable();
      end.abort();
      await watching;
      return { rigMs: loop.max / 1e6, upstreamMs };
    },
  };
}
