import type { ArgumentProblem } from './argument-problem.js';
import { quoteName } from './describe-value.js';
import { forbiddenText, numberProblem } from './json-limits.js';
import { appendPointer } from './json-pointer.js';

/** Deepest nesting of objects and arrays that is read. */
export const deepestNesting = 64;
/** More problems than this are not collected: the list is for somebody to read. */
const mostProblems = 100;

interface Frame {
  /** Names seen so far; null in an array. */
  readonly names: Set<string> | null;
  expectsName: boolean;
  name: string;
  index: number;
}

export interface Scan {
  readonly problems: readonly ArgumentProblem[];
  /** Too deep for a recursive parser; the scan stopped there. */
  readonly tooDeep: boolean;
}

const quote = 0x22;
const backslash = 0x5c;
const ambiguousNames = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Finds in JSON text what a parser would swallow silently: repeated names, numbers that change when they are read,
 * text that PostgreSQL cannot store, names that mean something to JavaScript, and nesting that exhausts the stack.
 * One pass over the text, without recursion. Syntax is not its business: on text that is not JSON it ends, with
 * whatever it noticed, and the parser says what is wrong.
 */
export function scanJson(text: string): Scan {
  const problems: ArgumentProblem[] = [];
  const frames: Frame[] = [];
  let frame: Frame | undefined;
  let at = 0;
  while (at < text.length && problems.length < mostProblems) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = endOfString(text, at);
      const raw = text.slice(at + 1, end - 1);
      // Only an escape can hide a NUL or half a surrogate pair: neither exists in UTF-8 that is JSON.
      const decoded = raw.includes('\\') ? decode(raw) : raw;
      const wrong = decoded === raw ? null : forbiddenText(decoded);
      if (frame?.expectsName && frame.names !== null) {
        frame.name = decoded;
        if (frame.names.has(decoded) || ambiguousNames.has(decoded)) problems.push(nameProblem(frames, frame.names));
        frame.names.add(decoded);
        if (wrong)
          problems.push({ pointer: pointerOf(frames), expected: wrong.expected, got: `${wrong.got} in a name` });
      } else if (wrong) problems.push({ pointer: pointerOf(frames), ...wrong });
      at = end;
      continue;
    }
    if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      const end = endOfNumber(text, at);
      const wrong = numberProblem(text.slice(at, end));
      if (wrong) problems.push({ pointer: pointerOf(frames), ...wrong });
      at = end;
      continue;
    }
    at += 1;
    if (code === 0x7b || code === 0x5b) {
      if (frames.length === deepestNesting) return { problems: [tooDeep(frames)], tooDeep: true };
      frame = { names: code === 0x7b ? new Set() : null, expectsName: code === 0x7b, name: '', index: 0 };
      frames.push(frame);
    } else if (code === 0x7d || code === 0x5d) {
      frames.pop();
      frame = frames.at(-1);
    } else if (code === 0x3a && frame) {
      frame.expectsName = false;
    } else if (code === 0x2c && frame) {
      frame.expectsName = frame.names !== null;
      frame.index += 1;
    }
  }
  return { problems, tooDeep: false };
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) return at + 1;
    if (code === backslash) at += 1;
  }
  return text.length;
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const belongs = (code >= 0x30 && code <= 0x39) || code === 0x2e || code === 0x2b || code === 0x2d;
    if (!belongs && code !== 0x65 && code !== 0x45) break;
  }
  return at;
}

function decode(raw: string): string {
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return raw;
  }
}

/** About the name that the innermost object has just come to. */
function nameProblem(frames: readonly Frame[], seen: ReadonlySet<string>): ArgumentProblem {
  const pointer = pointerOf(frames);
  const name = quoteName(frames.at(-1)?.name ?? '');
  return seen.has(frames.at(-1)?.name ?? '')
    ? { pointer, expected: `the name ${name} only once in its object`, got: 'it twice' }
    : { pointer, expected: 'no field of this name', got: name };
}

function pointerOf(frames: readonly Frame[]): string {
  return frames.reduce((pointer, { names, name, index }) => appendPointer(pointer, names ? name : index), '');
}

function tooDeep(frames: readonly Frame[]): ArgumentProblem {
  return { pointer: pointerOf(frames), expected: `at most ${deepestNesting} levels of nesting`, got: 'more' };
}
