import type { Json } from '@intendant/intent';
import type { AnswerHeaders } from './exchange.js';
import { locationField } from './template.js';

interface Sent {
  readonly origin: string;
  readonly path: string;
}

/**
 * What an upstream said with its 202, and under `$location` where it wants to be asked (RFC 9110, 10.2.2): path and
 * query, as they go on the wire. A field of the body with this name gives way. Left out when it names another server: a credential must not follow it there. Data
 * that is neither an object nor nothing has no room for a field and stays as it is.
 */
export function withLocation(data: Json, headers: AnswerHeaders, wire: Sent): Json {
  if (data !== null && (typeof data !== 'object' || Array.isArray(data))) return data;
  const location = locationOf(headers['location'], wire);
  if (location !== null) return { ...data, [locationField]: location };
  if (data === null || !Object.hasOwn(data, locationField)) return data;
  return Object.fromEntries(Object.entries(data).filter(([name]) => name !== locationField));
}

function locationOf(value: string | string[] | undefined, { origin, path }: Sent): string | null {
  const base = origin + path;
  // Several are a contradiction.
  if (typeof value !== 'string' || !URL.canParse(value, base)) return null;
  const url = new URL(value, base);
  return url.origin === origin ? url.pathname + url.search : null;
}
