import { RE2JS } from 're2js';
import { largestPattern } from './limits.js';

/** Compiled patterns of expressions. They are constants of policy and tool files, so there are only so many. */
const compiled = new Map<string, RE2JS>();

/**
 * A regular expression of `matches`: RE2 syntax, found anywhere in the text unless it is anchored, in time proportional to
 * the text.
 *
 * @throws Error when it is none, or too large.
 */
export function matcherOf(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known) return known;
  const matcher = compilePattern(pattern);
  if (matcher.programSize() > largestPattern) throw new Error('is too large; must have fewer parts and repetitions');
  compiled.set(pattern, matcher);
  return matcher;
}

/** Instructions that each character may be put to. */
export function patternSize(pattern: string): number {
  return matcherOf(pattern).programSize();
}

function compilePattern(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(message.replace(/^error parsing regexp: /, ''), { cause: error });
  }
}
