import { createHash } from 'node:crypto';

/** A JSON object as it came off the wire. */
export type JsonObject = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The parsed body, or undefined when it is not JSON. */
export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}

/** sha256 (hex) of a body. JSON is hashed with its keys sorted, so two spellings of one request are one request. */
export function hashBody(body: Buffer): string {
  const parsed = parseJson(body);
  const text = parsed === undefined ? body : JSON.stringify(sorted(parsed));
  return createHash('sha256').update(text).digest('hex');
}
