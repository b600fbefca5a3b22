import type { Figures, Measured, UnderLoad } from './figures.js';

const load: UnderLoad = {
  inFlight: 256,
  perSecond: 1_000,
  loaded: { p50: 100, p95: 150, p99: 200 },
  cpu: { postgres: 0.25, server: 0.25 },
  cpuTotal: 0.5,
  otherCores: 0,
};

/** Figures of one measurement, of which a test says what matters to it. */
export function figuresOf(system: Measured, round: number, told: Partial<Figures> = {}): Figures {
  const oneAtATime = { p50: 2, p95: 3, p99: 4 };
  return { ...load, system, round, oneAtATime, further: [], idleMiB: {}, loadedMiB: {}, counts: null, ...told };
}

/** A further load with fewer in flight. */
export function loadOf(inFlight: number, told: Partial<UnderLoad> = {}): UnderLoad {
  return { ...load, inFlight, ...told };
}
