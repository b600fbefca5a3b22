import type { Json } from '@intendant/intent';
import type { AnswerHeaders } from './exchange.js';
import type { WireRequest } from './http-request.js';

/** Field of accepted data for what the header `Location` named. A field of the body with this name gives way. */
export const locationField = '$location';

/**
 * What an upstream said with its 202, and under `$location` where it wants to be asked (RFC 9110, 10.2.2): path and
 * query, as they go on the wire. Left out when it names another server: a credential must not follow it there. Data
 * that is neither an object nor nothing has no room for a field and stays as it is.
 */
export function withLocation(data: Json, headers: AnswerHeaders, wire: Pick<WireRequest, 'origin' | 'path'>): Json {
  if (data !== null && (typeof data !== 'object' || Array.isArray(data))) return data;
  const location = locationOf(headers['location'], wire);
  if (location !== null) return { ...data, [locationField]: location };
  if (data === null || !Object.hasOwn(data, locationField)) return data;
  return Object.fromEntries(Object.entries(data).filter(([name]) => name !== locationField));
}

function locationOf(
  value: string | string[] | undefined,
  { origin, path }: Pick<WireRequest, 'origin' | 'path'>,
): string | null {
  const base = origin + path;
  // Several are a contradiction.
  if (typeof value !== 'string' || !URL.canParse(value, base)) return null;
  const url = new URL(value, base);
  return url.origin === origin ? url.pathname + url.search : null;
}
