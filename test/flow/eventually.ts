import { setTimeout as pause } from 'node:timers/promises';

const pollMs = 20;

/**
 * Polls until `check` gives something truthy, and returns it. An error of `check` counts as "not yet" and is told
 * when the deadline has passed.
 */
export async function eventually<T>(
  what: string,
  check: () => T | Promise<T>,
  timeoutMs = 15_000,
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  do {
    try {
      const value = await check();
      if (value) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    await pause(pollMs);
  } while (performance.now() < deadline);
  throw new Error(`${timeoutMs} ms passed without: ${what}; last: ${String(last)}`);
}
