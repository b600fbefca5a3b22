/** Any JSON value. Objects are plain data: no prototypes, no functions. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Equal as JSON values: the order of an object's members does not matter (the database does not keep it). */
export function sameJson(a: Json, b: Json): boolean {
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return a === b;
  if (isArray(a) || isArray(b)) {
    return isArray(a) && isArray(b) && a.length === b.length && a.every((item, i) => sameJson(item, b[i] ?? null));
  }
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && sameJson(a[name] ?? null, b[name] ?? null))
  );
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
