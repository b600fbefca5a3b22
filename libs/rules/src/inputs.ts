import { type Bindings, Double, type Expression } from '@intendant/cel';
import type { Json, JsonObject } from '@intendant/intent';

/** Most variables of a rule whose values are kept. */
const mostInputs = 20;
/** Longest text that is kept whole, in characters. */
const longestText = 200;
/** Most values inside a list or map that is kept; of a larger one only the size is. */
const mostInside = 20;

/**
 * The variables that an expression reads, by their paths, with their values, for the record of a decision: bounded in size
 * whatever the arguments are. What is missing is left out.
 */
export function inputsOf(expression: Expression | null, bindings: Bindings): JsonObject {
  const paths = (expression?.reads ?? []).slice(0, mostInputs);
  return Object.fromEntries(
    paths.flatMap((path) => {
      const value = bindings.at(path);
      return value === undefined ? [] : [[path.join('.'), shortened(value)]];
    }),
  );
}

function shortened(value: unknown): Json {
  return copy(value, { left: mostInside }) ?? size(value);
}

/** Null as a whole when there is too much inside. */
function copy(value: unknown, room: { left: number }): Json | null {
  if (typeof value === 'string') return cut(value);
  if (value instanceof Double) return value.value;
  if (typeof value !== 'object' || value === null) return value as Json;
  const parts = Object.entries(value);
  room.left -= parts.length;
  if (room.left < 0) return null;
  const copies = parts.map(([name, part]) => [cut(name), copy(part, room)] as const);
  if (room.left < 0) return null;
  return Array.isArray(value) ? copies.map(([, part]) => part) : Object.fromEntries(copies);
}

function size(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  return Array.isArray(value) ? `a list of ${value.length}` : `an object of ${Object.keys(value).length} fields`;
}

/** Never between the halves of a surrogate pair, which no database keeps. */
function cut(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText).replace(/[\ud800-\udbff]$/, '')}…` : text;
}
