import type { Json, JsonObject } from './json.js';

/** What stands at the end of a JSON Pointer (RFC 6901), in which `*` stands for each item of a list; nothing where it leads nowhere. */
export function valuesAt(data: Json, pointer: string): Json[] {
  const steps = pointer.split('/').slice(1);
  return follow(
    data,
    steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')),
  );
}

function follow(data: Json, [name, ...rest]: readonly string[]): Json[] {
  if (name === undefined) return [data];
  if (data === null || typeof data !== 'object') return [];
  if (isList(data)) {
    const items = name === '*' ? data : /^\d+$/.test(name) ? data.slice(Number(name), Number(name) + 1) : [];
    return items.flatMap((item) => follow(item, rest));
  }
  return Object.hasOwn(data, name) ? follow((data as JsonObject)[name] ?? null, rest) : [];
}

function isList(data: Json): data is readonly Json[] {
  return Array.isArray(data);
}
