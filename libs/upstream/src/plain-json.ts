import type { Json } from '@intendant/intent';
import { type JsonBody, parseBody } from './json-body.js';
import { messageOf } from './short-text.js';

type Plain = JsonBody | { readonly ok: false; readonly cause: string; readonly why: string };

/**
 * A copy of what somebody's code returned, if it is JSON: what JSON would drop or change without a word (functions,
 * maps, NaN, undefined as the whole) is refused, and so is what is longer than `maxBytes`.
 */
export function plainJson(value: unknown, maxBytes: number): Plain {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, refuseOthers) as string | undefined;
  } catch (error) {
    return { ok: false, why: `what it returned is not JSON: ${messageOf(error)}` };
  }
  if (text === undefined) return { ok: false, why: 'it returned nothing' };
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return parseBody(bytes);
  return { ok: false, cause: 'response_too_large', why: `it returned more than ${maxBytes} bytes` };
}

/** Sees values after their own `toJSON`, so a date is a text by then. */
function refuseOthers(name: string, value: unknown): unknown {
  const where = name === '' ? 'it' : `\`${name}\``;
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${where} is ${value}`);
  if (typeof value === 'function' || typeof value === 'symbol') throw new Error(`${where} is a ${typeof value}`);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value as Json;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Objects of another realm have another Object; those have no prototype above theirs.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return value;
  throw new Error(`${where} is a ${value.constructor.name}, not a plain object`);
}
