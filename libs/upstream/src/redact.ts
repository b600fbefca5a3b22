import { type FilledIn, takenOut, type Upstream } from '@intendant/contracts';
import type { Json } from '@intendant/intent';
import type { LookupRequest } from './adapter.js';
import type { Credential } from './credential.js';
import { fillHeader } from './template.js';

/** Fewer characters are no secret, and replacing them everywhere would make a text unreadable. */
export const shortestSecret = 6;

/** Whose value is a secret, by the name of a header or an environment variable. */
const secretName = /auth|token|secret|key|passw|credential|session|cookie|signature/i;
/** Always a secret, even where a field is filled in. */
const alwaysSecret = /^(?:proxy-)?authorization$|^cookie$/i;
/** What a token of another process looks like when an upstream repeats the header it came in. */
const anyBearer = String.raw`\bBearer(?:\s|%20|\+)+[\w.~+/%-]{6,}=*`;

interface Carried {
  readonly name: string;
  readonly template: string;
}

/** Takes what a call carried out of what comes back, and puts `[redacted]` in its place. */
export class Redactor {
  constructor(
    private readonly upstream: Upstream,
    private readonly request: LookupRequest,
    private readonly credential: Credential | null,
  ) {}

  /** Texts are for people, so every value of a header or a variable goes, secret or not. */
  text(text: string): string {
    const pattern = this.#pattern(this.#carried(), this.request.tool.filledIn ?? []);
    return pattern === null ? text : text.replace(pattern, takenOut);
  }

  /**
   * Data is for programs: only secrets go, which are the credential and what headers and variables with a telling name
   * hold. Where a field of the request is filled in, the value is nobody's secret, and receipts repeat it rightly; what
   * the environment has put beside it is one.
   */
  data(data: Json): Json {
    const filledIn = (this.request.tool.filledIn ?? []).filter(({ names }) => names.some((n) => secretName.test(n)));
    const pattern = this.#pattern(this.#carried().filter(isSecret), filledIn);
    return pattern === null || JSON.stringify(data).search(pattern) < 0 ? data : cleaned(data, pattern);
  }

  #carried(): Carried[] {
    const asked = this.request.tool.approval.preview?.request;
    return carried([...sources(this.upstream), asked?.kind === 'http' ? asked.headers : {}]);
  }

  #pattern(headers: readonly Carried[], filledIn: readonly FilledIn[]): RegExp | null {
    const { credential, request } = this;
    if (headers.length === 0 && filledIn.length === 0 && credential === null) return null;
    const values = headers.flatMap(({ template }) => asSent(template, request));
    for (const { value } of filledIn) values.push(value);
    if (credential !== null) values.push(credential.header.value, credential.secret, ...(credential.former ?? []));
    return patternOf(values, credential?.refused !== undefined);
  }
}

function carried(from: readonly Readonly<Record<string, string>>[]): Carried[] {
  return from.flatMap((source) => Object.entries(source).map(([name, template]) => ({ name, template })));
}

function sources(upstream: Upstream): Readonly<Record<string, string>>[] {
  switch (upstream.kind) {
    case 'http':
      return [upstream.headers, upstream.lookup?.headers ?? {}, upstream.poll?.headers ?? {}];
    case 'mcp':
      return [upstream.server.transport === 'http' ? upstream.server.headers : upstream.server.env];
    case 'process':
      return [upstream.env];
    case 'module':
      return [];
  }
}

function isSecret({ name, template }: Carried): boolean {
  return alwaysSecret.test(name) || (secretName.test(name) && !template.includes('{{'));
}

function asSent(template: string, request: LookupRequest): string[] {
  try {
    // Servers strip the blanks around a value, so an echo comes without them.
    return [fillHeader(template, request).trim()];
  } catch {
    // What cannot be filled in was never sent.
    return [];
  }
}

/** By the values they are made of. Most tools have one set of them for ever; tokens come and go. */
const patterns = new Map<string, RegExp | null>();
const mostPatterns = 1_000;

function patternOf(values: readonly string[], bearer: boolean): RegExp | null {
  const id = JSON.stringify([bearer, values]);
  const known = patterns.get(id);
  if (known !== undefined) return known;
  const forms = new Set(values.flatMap(parts).flatMap((part) => [part, ...base64Forms(part)]));
  const alternatives = [...forms]
    .filter((form) => form.length >= shortestSecret)
    // Of two that begin alike, the longer must win, or its rest would stay.
    .toSorted((a, b) => b.length - a.length)
    .map((form) => [...form].map(writings).join(''));
  if (bearer) alternatives.push(anyBearer);
  const pattern = alternatives.length === 0 ? null : new RegExp(alternatives.join('|'), 'g');
  if (patterns.size >= mostPatterns) patterns.clear();
  patterns.set(id, pattern);
  return pattern;
}

/** The value, it without its scheme (`Bearer`), and what a basic authorization (RFC 7617) is made of. */
function parts(value: string): string[] {
  const bare = value.replace(/^[\w-]+ +/, '');
  if (!/^basic +/i.test(value)) return [value, bare];
  const pair = Buffer.from(bare, 'base64').toString('utf8');
  return [value, bare, pair, pair.slice(pair.indexOf(':') + 1)];
}

function base64Forms(text: string): string[] {
  if (text.length < shortestSecret) return [];
  const bytes = Buffer.from(text, 'utf8');
  const padded = bytes.toString('base64');
  return [padded, padded.replace(/=+$/, ''), bytes.toString('base64url')];
}

const entities: Readonly<Record<string, string>> = { '"': 'quot', '&': 'amp', '<': 'lt', '>': 'gt', "'": 'apos' };

/**
 * The ways in which one character is written: as it is, and escaped for JSON, for URLs and for HTML, also twice, as
 * where a page quotes JSON or JSON quotes JSON.
 */
function writings(character: string): string {
  if (/[A-Za-z0-9]/.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  const hex = anyCase(code.toString(16).padStart(2, '0'));
  const ways = [literal(character), `%(?:25)?${hex}`, `u00${hex}`, `&(?:amp;)?#(?:${code}|[xX]${hex});`];
  if (code > 0x7f) ways.push(anyCase(encodeURIComponent(character)));
  if (character === ' ') ways.push(String.raw`\+`);
  const entity = entities[character];
  if (entity !== undefined) ways.push(`&(?:amp;)?${entity};`);
  return String.raw`\\{0,4}(?:${ways.join('|')})`;
}

function anyCase(hex: string): string {
  return hex.replace(/[a-f]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

function cleaned(data: Json, pattern: RegExp): Json {
  if (typeof data === 'string') return data.replace(pattern, takenOut);
  if (typeof data === 'number') return String(data).search(pattern) < 0 ? data : takenOut;
  if (Array.isArray(data)) return data.map((part: Json) => cleaned(part, pattern));
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, part]) => [key.replace(pattern, takenOut), cleaned(part as Json, pattern)]),
  );
}
