/** Longest string that is repeated back; a longer one is only measured. */
const longestEcho = 64;

/** A short, safe description of a value that was not what it should be, such as `the string "abc"` or `an array`. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'string') {
    return value.length > longestEcho
      ? `a string of ${value.length} characters`
      : `the string ${JSON.stringify(value)}`;
  }
  if (typeof value === 'number') return `the number ${value}`;
  if (typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return value.length === 1 ? 'an array of 1 item' : `an array of ${value.length} items`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** A name from outside, quoted and cut to a length that fits into a sentence. */
export function quoteName(name: string): string {
  return JSON.stringify(name.length > longestEcho ? `${name.slice(0, longestEcho)}…` : name);
}
