/** One line of text, 1 to `max` characters: no control characters, and nothing the database cannot store. */
export function isLine(value: unknown, max: number): value is string {
  return typeof value === 'string' && value.length <= max && /^[^\p{Cc}\p{Cs}]+$/u.test(value);
}

/** Text of a person, 1 to `max` characters: line breaks are fine. */
export function isProse(value: unknown, max: number): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= max && !/[\0\p{Cs}]/u.test(value);
}
