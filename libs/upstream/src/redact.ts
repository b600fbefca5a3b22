import { type LookupRequest, upstreamOf } from './adapter.js';
import { fillHeader } from './template.js';

/** Fewer characters are no secret, and replacing them everywhere would make a text unreadable. */
const shortestSecret = 6;

/**
 * Replaces by `[redacted]` what the tool's headers carry, of its call and of its lookup, wherever an upstream repeats
 * it: the value, the credentials without their scheme (`Bearer`), and both as JSON writes them.
 */
export function redact(text: string, request: LookupRequest): string {
  const secrets = headerValues(request)
    .flatMap((value) => [value, value.replace(/^[\w-]+ +/, '')])
    .flatMap((value) => [value, asJson(value), asJson(value).replaceAll('/', '\\/')])
    .filter((value) => value.length >= shortestSecret)
    // Of two that begin alike, the longer must win, or its rest would stay.
    .toSorted((a, b) => b.length - a.length);
  if (secrets.length === 0) return text;
  return text.replace(new RegExp(secrets.map(literal).join('|'), 'g'), '[redacted]');
}

function headerValues(request: LookupRequest): string[] {
  const upstream = upstreamOf(request);
  if (upstream?.kind !== 'http') return [];
  const { headers, lookup, poll } = upstream;
  return [headers, lookup?.headers ?? {}, poll?.headers ?? {}].flatMap(Object.values<string>).flatMap((template) => {
    try {
      // Servers strip the blanks around a value, so an echo comes without them.
      return [fillHeader(template, request).trim()];
    } catch {
      // A header that cannot be filled in was never sent.
      return [];
    }
  });
}

function asJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
