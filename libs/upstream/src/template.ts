import type { Json, JsonObject } from '@intendant/intent';
import { MappingError } from './mapping-error.js';

export interface TemplateValues {
  /** True for lookups and polls, which ask for one thing: without a value most upstreams list everything. */
  readonly asks?: boolean;
  readonly key: string;
  readonly intentId: string;
  readonly args: JsonObject;
  /** What the upstream answered when it accepted the request; for polls. */
  readonly accepted?: Json;
}

const placeholder = /\{\{\s*(.*?)\s*\}\}/g;

/** Field of accepted data for the path that the header `Location` named, see accepted-location.ts. */
export const locationField = '$location';

const wholeLocation = /^\/\{\{\s*accepted\.\$location\s*\}\}$/;

/**
 * The path at which the upstream wants to be asked, where the template is `/{{accepted.$location}}` and nothing else:
 * it is a path of the whole server, already encoded. Null for every other template.
 *
 * @throws MappingError when the upstream named none
 */
export function locationPath(template: string, { accepted }: TemplateValues): string | null {
  if (accepted === undefined || !wholeLocation.test(template)) return null;
  const location = isObject(accepted) ? accepted[locationField] : undefined;
  if (typeof location !== 'string') throw new MappingError('the answer named no Location on this server');
  if (climbs(location)) throw new MappingError('the path contains a "." or ".." segment');
  return location;
}

/**
 * Fills `{{key}}`, `{{intentId}}`, `{{args.field}}`, `{{field}}` and `{{accepted.field}}` into a path, percent-encoded, and keeps the path
 * where the tool file put it: a value cannot add, remove or climb a segment.
 *
 * @throws MappingError when a value is missing, is an object or a list, or would lead elsewhere
 */
export function fillPath(template: string, values: TemplateValues): string {
  const cut = template.indexOf('?');
  const path = cut < 0 ? template : template.slice(0, cut);
  const query = cut < 0 ? '' : template.slice(cut);
  const filled = fill(path, values, (text, name) => {
    // An empty segment would address the collection instead of the member.
    if (text === '') throw new MappingError(`{{${name}}} is empty`);
    return encode(text, name);
  });
  if (climbs(filled)) throw new MappingError('the path contains a "." or ".." segment');
  return filled + fill(query, values, encode);
}

/**
 * Fills the same placeholders into a header value.
 *
 * @throws MappingError when a value is missing, is an object or a list, or cannot stand in a header
 */
export function fillHeader(template: string, values: TemplateValues): string {
  return fill(template, values, (text, name) => {
    if (!/^[\t\x20-\x7e]*$/.test(text)) throw new MappingError(`{{${name}}} has characters that a header cannot carry`);
    return text.replaceAll('\t', ' ');
  });
}

/**
 * Fills the placeholders with what `write` makes of their values.
 *
 * @throws MappingError when a value is missing, is an object or a list, or is empty in a question
 */
export function fill(template: string, values: TemplateValues, write: (text: string, name: string) => string): string {
  if (!template.includes('{{')) return template;
  return template.replace(placeholder, (_, name: string) => {
    const text = textOf(lookUp(name, values), name);
    if (values.asks && text.trim() === '') throw new MappingError(`{{${name}}} is empty, which asks for everything`);
    return write(text, name);
  });
}

function lookUp(name: string, values: TemplateValues): Json | undefined {
  if (name === 'key') return values.key;
  if (name === 'intentId') return values.intentId;
  if (name.startsWith('accepted.')) {
    const { accepted } = values;
    const path = name.slice('accepted.'.length);
    return isObject(accepted) && Object.hasOwn(accepted, path) ? accepted[path] : undefined;
  }
  const field = name.startsWith('args.') ? name.slice('args.'.length) : name;
  return Object.hasOwn(values.args, field) ? values.args[field] : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: Json | undefined, name: string): string {
  if (value === undefined || value === null) throw new MappingError(`{{${name}}} has no value`);
  if (typeof value === 'object') throw new MappingError(`{{${name}}} is not a plain value`);
  return String(value);
}

function encode(text: string, name: string): string {
  try {
    return encodeURIComponent(text);
  } catch (error) {
    throw new MappingError(`{{${name}}} is not well-formed text`, { cause: error });
  }
}

/** Servers and proxies decode before they resolve dots, so an encoded slash counts as a slash here. */
function climbs(path: string): boolean {
  if (!path.includes('.') && !path.includes('%')) return false;
  return path
    .replace(/%2f|%5c/gi, '/')
    .replace(/%2e/gi, '.')
    .split(/[\\/]/)
    .some((segment) => segment === '.' || segment === '..');
}
