import { performance } from 'node:perf_hooks';

/** The only wall clock of the project. Leases and due times never use it: they live on the database clock. */
export function wallClock(): number {
  return Date.now();
}

/** Monotonic milliseconds since the process started; for measuring how long something took. */
export function monotonic(): number {
  return performance.now();
}
