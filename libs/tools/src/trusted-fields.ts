import type { DroppedField, Json, JsonObject } from '@intendant/intent';
import { appendPointer } from './json-pointer.js';

/** Names, normalized, whose values only the runtime may set: identity, authority, keys and confirmation. */
const trustedNames: ReadonlySet<string> = new Set([
  ...['tenant', 'tenantid', 'user', 'userid', 'agentuser', 'actinguser'],
  ...['role', 'roles', 'permission', 'permissions'],
  ...['idempotencykey', 'authorization', 'accesstoken', 'authtoken', 'apikey', 'bearertoken', 'runtoken', 'token'],
  ...['runid', 'sessionid'],
  ...['confirmed', 'confirm', 'confirmation', 'isconfirmed', 'approved', 'isapproved', 'approvaltoken'],
]);
const ascii = /^[\x20-\x7e]*$/;
const noNames: ReadonlySet<string> = new Set();

/**
 * True for a field that is never believed when it comes from a model, however it is spelled: compared without case,
 * separators, invisible characters and compatibility forms (NFKC), so `User-ID`, `user_id` and full-width letters
 * are the same. `also` holds further names, normalized by {@link normalizeName}.
 */
export function isTrustedName(name: string, also: ReadonlySet<string> = noNames): boolean {
  const plain = normalizeName(name);
  return trustedNames.has(plain) || also.has(plain);
}

/** The form in which names of trusted fields are compared. */
export function normalizeName(name: string): string {
  // Nearly every name is ASCII, where this is the same and several times faster.
  if (ascii.test(name)) return name.toLowerCase().replace(/[^a-z0-9]/g, '');
  // Lower case comes before stripping: the lower case of some letters is a letter and a combining mark.
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/**
 * The arguments without trusted fields, at any depth, and what was dropped: where and which JSON type, never the
 * value. A field inside a dropped one is not listed again. `also` are the names that the tool injects.
 */
export function dropTrustedFields(
  args: JsonObject,
  also: readonly string[],
): { readonly args: JsonObject; readonly dropped: readonly DroppedField[] } {
  const dropped: DroppedField[] = [];
  const names = also.length === 0 ? noNames : new Set(also.map(normalizeName));
  return { args: cleanObject(args, '', names, dropped), dropped };
}

function cleanObject(
  object: JsonObject,
  pointer: string,
  also: ReadonlySet<string>,
  dropped: DroppedField[],
): JsonObject {
  const kept: [string, Json][] = [];
  for (const [name, value] of Object.entries(object)) {
    const here = appendPointer(pointer, name);
    if (isTrustedName(name, also)) dropped.push({ pointer: here, type: jsonType(value) });
    else kept.push([name, clean(value, here, also, dropped)]);
  }
  return Object.fromEntries(kept);
}

function clean(value: Json, pointer: string, also: ReadonlySet<string>, dropped: DroppedField[]): Json {
  if (value === null || typeof value !== 'object') return value;
  if (isArray(value)) return value.map((item, index) => clean(item, appendPointer(pointer, index), also, dropped));
  return cleanObject(value, pointer, also, dropped);
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function jsonType(value: Json): string {
  if (value === null) return 'null';
  return isArray(value) ? 'array' : typeof value;
}
