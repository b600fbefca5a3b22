import { parseDuration } from '@intendant/contracts';

/** A time of RFC 3339, to the microsecond at most. */
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)$/;

/** A moment after 1970, in ms since the epoch, or a time that ends now; null for anything else. */
export function parseSince(text: string): { readonly at: number } | { readonly forMs: number } | null {
  const forMs = parseDuration(text);
  if (forMs !== null) return { forMs };
  const at = time.test(text) ? Date.parse(text) : Number.NaN;
  return at >= 0 ? { at } : null;
}
