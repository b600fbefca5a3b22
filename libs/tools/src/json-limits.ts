type Finding = { readonly expected: string; readonly got: string };

const loneSurrogate = /\p{Surrogate}/u;

/** Why text cannot be stored, or null. PostgreSQL keeps neither U+0000 nor half a surrogate pair in text or jsonb. */
export function forbiddenText(text: string): Finding | null {
  if (text.includes('\0')) return { expected: 'text without NUL (U+0000)', got: 'a NUL' };
  if (loneSurrogate.test(text)) return { expected: 'well-formed Unicode text', got: 'half a surrogate pair' };
  return null;
}

/** Why a number literal would not be read as it is written, or null (RFC 8259 section 6: IEEE 754 double precision). */
export function numberProblem(literal: string): Finding | null {
  // Fifteen characters always fit; nearly every number takes this way out.
  if (literal.length < 16 && !/[eE]/.test(literal)) return null;
  const value = Number(literal);
  if (value === Infinity || value === -Infinity) {
    return { expected: 'a number that fits into double precision', got: shorten(literal) };
  }
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && !/[eE]/.test(literal)) {
    return { expected: 'an integer between -(2^53 - 1) and 2^53 - 1, or a string', got: shorten(literal) };
  }
  return null;
}

function shorten(literal: string): string {
  return literal.length > 40 ? `a number of ${literal.length} characters` : literal;
}
