/** `12.3 s`, or `45 ms` below a second. */
export function duration(ms: number): string {
  return Math.abs(ms) < 1_000 ? `${Math.round(ms * 10) / 10} ms` : `${Math.round(ms / 100) / 10} s`;
}

/** `1 effect`, `2 effects`. */
export function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`;
}
