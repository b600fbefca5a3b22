import type { Json, JsonObject } from '@intendant/intent';
import { pointerSteps } from './pointer.js';

/** What stands in the place of a value that nobody is shown. */
export const redactedMark = '(redacted)';

/** Steps to the places that are hidden, from where one is. */
export type Places = readonly (readonly string[])[];

/**
 * A copy of arguments in which the text `(redacted)` stands for what nobody is shown.
 *
 * @param pointers JSON Pointers (RFC 6901); `*` for each item of a list.
 */
export function redacted(args: JsonObject, pointers: readonly string[]): JsonObject {
  return withoutHidden(args, hiddenPlaces(pointers));
}

export function hiddenPlaces(pointers: readonly string[]): Places {
  return pointers.map(pointerSteps);
}

export function isHidden(places: Places): boolean {
  return places.some(({ length }) => length === 0);
}

/** The hidden places as seen from one step further. */
export function hiddenBelow(places: Places, step: string, inList = false): Places {
  return places.flatMap(([first, ...rest]) => (first === step || (inList && first === '*') ? [rest] : []));
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function withoutHidden(object: JsonObject, hidden: Places): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, veiled(value, hiddenBelow(hidden, name))]),
  );
}

function veiled(value: Json, hidden: Places): Json {
  if (isHidden(hidden)) return redactedMark;
  if (hidden.length === 0 || value === null || typeof value !== 'object') return value;
  if (isList(value)) return value.map((item, at) => veiled(item, hiddenBelow(hidden, `${at}`, true)));
  return withoutHidden(value, hidden);
}
