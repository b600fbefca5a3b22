const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
type Unit = keyof typeof unitMs;

/** Ten years; longer than any key is remembered, and what "for ever" is written as. */
export const longestDurationMs = 3650 * unitMs.d;

const amount = '\\d{1,12}(?:\\.\\d{1,3})?';
/** At least one of hours, minutes and seconds. */
const time = `(?:\\d{1,9}H(?:\\d{1,9}M)?(?:${amount}S)?|\\d{1,9}M(?:${amount}S)?|${amount}S)`;

/**
 * Durations of tool files, as a JSON Schema pattern: a number with `ms`, `s`, `m`, `h` or `d`, or ISO 8601 with weeks,
 * days, hours, minutes and seconds. Months and years have no fixed length and are left out.
 */
export const durationPattern = `^(?:${amount}(?:ms|s|m|h|d)|P(?:\\d{1,6}W|\\d{1,6}D(?:T${time})?|T${time}))$`;

const valid = new RegExp(durationPattern);

/** Milliseconds of a duration, or null when it is not one or longer than ten years. */
export function parseDuration(text: string): number | null {
  if (!valid.test(text)) return null;
  const short = /^([\d.]+)(ms|s|m|h|d)$/.exec(text);
  const ms = short ? Number(short[1]) * unitMs[short[2] as Unit] : isoMs(text);
  return ms > longestDurationMs ? null : Math.round(ms);
}

function isoMs(text: string): number {
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)([WDHMS])/g)) {
    ms += Number(amount) * unitMs[String(unit).toLowerCase() as Unit];
  }
  return ms;
}
