/** Nearest-rank quantile of an ascending list; NaN when it is empty. */
export function quantile(sorted: readonly number[], q: number): number {
  const rank = Math.min(sorted.length, Math.max(1, Math.ceil(q * sorted.length)));
  return sorted[rank - 1] ?? Number.NaN;
}

/** The middle of several rounds and how far they lie apart. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly greatest: number;
}

/** Median (the mean of the two middle values for an even number), least and greatest; NaN when there are none. */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const low = sorted[Math.floor(middle)] ?? Number.NaN;
  const high = sorted[Math.ceil(middle)] ?? Number.NaN;
  return { median: (low + high) / 2, least: sorted[0] ?? Number.NaN, greatest: sorted.at(-1) ?? Number.NaN };
}

export function total(values: Iterable<number>): number {
  return [...values].reduce((sum, each) => sum + each, 0);
}
