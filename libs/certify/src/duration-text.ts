const units = { h: 3_600_000, m: 60_000, s: 1_000 };

/** A time as a tool file writes it: in the largest unit that leaves a whole number. */
export function durationText(ms: number): string {
  for (const [unit, each] of Object.entries(units)) if (ms >= each && ms % each === 0) return `${ms / each}${unit}`;
  return `${Math.round(ms)}ms`;
}
