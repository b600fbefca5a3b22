const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Days and time of an ISO 8601 duration; months and years have no fixed length. */
const iso = /^P(?=\d|T\d)(?:(\d{1,6})D)?(?:T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?$/;

/** Milliseconds of `PT30M`, `2h` or `3600` (seconds); null for anything else. */
export function parseDuration(text: string): number | null {
  const [, amount, unit] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? [];
  if (amount !== undefined) return Number(amount) * units[(unit || 's') as keyof typeof units];
  const [matched, days = 0, hours = 0, minutes = 0, seconds = 0] = iso.exec(text) ?? [];
  if (matched === undefined) return null;
  return Number(days) * units.d + Number(hours) * units.h + Number(minutes) * units.m + Number(seconds) * units.s;
}
