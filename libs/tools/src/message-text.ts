import type { ArgumentProblem } from './argument-problem.js';
import { describeValue } from './describe-value.js';
import { deepestNesting } from './scan-json.js';

/** Largest ToolIntent, in bytes of UTF-8. */
export const largestMessage = 256 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The JSON text of a message, or why there is none. A parsed value is written out again, so one reader sees both. */
export function messageText(payload: unknown): string | ArgumentProblem {
  if (!(payload instanceof Uint8Array)) return writeOut(payload);
  if (payload.byteLength > largestMessage) return tooLarge(payload.byteLength);
  try {
    return utf8.decode(payload);
  } catch {
    return { pointer: '', expected: 'JSON in UTF-8', got: 'bytes that are not UTF-8' };
  }
}

function writeOut(value: unknown): string | ArgumentProblem {
  try {
    // JSON.stringify turns what overflowed into null without a word.
    const text: string | undefined = JSON.stringify(value, (_name, part: unknown) => {
      if (typeof part === 'number' && !Number.isFinite(part)) throw new NotFinite();
      return part;
    });
    if (text === undefined) return { pointer: '', expected: 'a JSON object', got: describeValue(value) };
    const size = Buffer.byteLength(text);
    return size > largestMessage ? tooLarge(size) : text;
  } catch (error) {
    if (error instanceof RangeError) {
      return { pointer: '', expected: `at most ${deepestNesting} levels of nesting`, got: 'more' };
    }
    if (error instanceof NotFinite) {
      return { pointer: '', expected: 'numbers that fit into double precision', got: 'one that does not' };
    }
    return { pointer: '', expected: 'plain JSON data', got: 'something that cannot be written as JSON' };
  }
}

class NotFinite extends Error {}

function tooLarge(size: number): ArgumentProblem {
  return { pointer: '', expected: `at most ${largestMessage} bytes`, got: `${size} bytes` };
}
