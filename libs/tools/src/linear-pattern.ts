import { RE2JS } from 're2js';

/**
 * A regular expression of ECMA-262 in an engine without backtracking: matching takes time proportional to the text,
 * whatever the text and the expression are. A text may come from a model, and a slow match stops a whole process.
 *
 * @throws Error when it uses what only backtracking can do: looking ahead or behind, or referring back.
 */
export function linearPattern(pattern: string | RegExp): RE2JS {
  const source = typeof pattern === 'string' ? pattern : pattern.source;
  // The translation would read `\k<name>` as text.
  if (/\\k/.test(source.replace(/\\\\/g, ''))) throw new Error('refers back (`\\k`)');
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(message.replace(/^error parsing regexp: /, ''), { cause: error });
  }
}

/** Why an expression cannot be used, with what would be right; null when it can. */
export function patternMistake(pattern: string | RegExp): string | null {
  try {
    linearPattern(pattern);
    return null;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `cannot be matched in linear time: ${why}; must be RE2 syntax, without looking ahead or behind, back references and counts over 1000`;
  }
}
