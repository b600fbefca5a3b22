const units = [
  { name: 'd', ms: 86_400_000, from: 3 },
  { name: 'h', ms: 3_600_000, from: 2 },
  { name: 'min', ms: 60_000, from: 5 },
] as const;

/** A duration as people compare it: `500 ms`, `78 s`, `10 min`, `24 h`. Larger units only where nothing is lost. */
export function formatDuration(ms: number): string {
  const unit = units.find((each) => ms >= each.from * each.ms && ms % each.ms === 0);
  if (unit) return `${ms / unit.ms} ${unit.name}`;
  return ms < 1000 ? `${ms} ms` : `${Number((ms / 1000).toFixed(3))} s`;
}
