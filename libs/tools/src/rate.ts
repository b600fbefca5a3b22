import type { Rate } from '@intendant/contracts';

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Rates of tool and policy files, as a JSON Schema pattern: a whole number per second, minute, hour or day. */
export const ratePattern = '^[1-9][0-9]{0,8}/[smhd]$';

/** A rate such as `10/s`, or null when it is none. */
export function parseRate(text: string): Rate | null {
  if (!new RegExp(ratePattern).test(text)) return null;
  const [count, unit] = text.split('/');
  return { count: Number(count), perMs: unitMs[unit as keyof typeof unitMs] };
}
