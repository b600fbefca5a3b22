/** Length of what is kept of an upstream's words, in UTF-16 units. */
export const maxDetail = 500;

/**
 * Foreign text made fit for a log line, a database and a terminal: control, format and lone surrogate characters
 * become spaces, and at most {@link maxDetail} units are kept.
 */
export function shortText(text: string): string {
  return (
    text
      .slice(0, 4 * maxDetail)
      .replace(unprintable, ' ')
      .replace(/ {2,}/g, ' ')
      .trim()
      .slice(0, maxDetail)
      // The cut may have split a pair.
      .replace(/[\ud800-\udbff]$/, '')
  );
}

const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** What an exception says; JSONata throws plain objects. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message);
  return String(error);
}
