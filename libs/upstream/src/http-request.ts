import type { HttpPoll, HttpUpstream, LookupDefinition, PreviewRequest } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import { runtimeHeaders } from '@intendant/tools';
import type { LookupRequest, PollRequest, UpstreamRequest } from './adapter.js';
import type { Credential } from './credential.js';
import { evaluate } from './expression.js';
import type { Task } from './kind-adapter.js';
import { MappingError } from './mapping-error.js';
import { tokenHeader } from './state-token.js';
import { fillHeader, fillPath, locationPath, type TemplateValues } from './template.js';

/** A request ready for the wire. */
export interface WireRequest {
  readonly origin: string;
  readonly method: HttpUpstream['method'];
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: string | null;
  /** Null for a lookup, which may be repeated freely. */
  readonly attemptId: string | null;
}

const attemptHeader = 'X-Attempt-Id';

/** @throws MappingError when the tool file's mapping cannot be filled in from this request */
export async function buildCall({
  upstream,
  request,
  credential,
}: Task<HttpUpstream, UpstreamRequest>): Promise<WireRequest> {
  const { args, key, intentId, attemptId } = request;
  const body = await bodyOf(upstream.body, { args, key, intentId, attemptId });
  return {
    method: upstream.method,
    headers: addHeaders(
      [attemptHeader, attemptId, 'Idempotency-Key', key, ...tokenHeader(request)],
      upstream.headers,
      body !== null,
      request,
      credential,
    ),
    body,
    attemptId,
    ...target(upstream.baseUrl, upstream.path, request),
  };
}

/**
 * A lookup, a poll or a preview. It carries the tool's headers too (credentials), its own taking precedence; no key, which
 * belongs to the effect.
 *
 * @throws MappingError
 */
export function buildQuestion(
  { upstream, request, credential }: Task<HttpUpstream, LookupRequest | PollRequest>,
  question: Pick<LookupDefinition | HttpPoll | HttpPreview, 'method' | 'path' | 'headers'>,
  body: string | null = null,
): WireRequest {
  const values = { ...request, asks: true };
  // Those of the tool are as in a call; these say what is asked for.
  for (const template of Object.values(question.headers)) fillHeader(template, values);
  return {
    ...target(upstream.baseUrl, question.path, values),
    method: question.method,
    headers: addHeaders([], { ...upstream.headers, ...question.headers }, body !== null, request, credential),
    body,
    attemptId: null,
  };
}

export type HttpPreview = Extract<PreviewRequest, { kind: 'http' }>;

/** @throws MappingError */
export async function buildPreview(task: Task<HttpUpstream>, preview: HttpPreview): Promise<WireRequest> {
  const { args, key, intentId } = task.request;
  return buildQuestion(task, preview, await bodyOf(preview.body, { args, key, intentId }));
}

function target(baseUrl: string, template: string, values: TemplateValues): { origin: string; path: string } {
  const base = baseOf(baseUrl);
  const path = locationPath(template, values) ?? base.path + fillPath(template, values);
  // "//host/…" and "http://host/…" in place of a path would name another server to a proxy.
  if (!/^\/(?![\\/])/.test(path)) throw new MappingError('the path does not stay on the address of the tool');
  return { origin: base.origin, path };
}

/** By base URL, of which there are as many as tool files name. */
const bases = new Map<string, { readonly origin: string; readonly path: string }>();

function baseOf(baseUrl: string): { readonly origin: string; readonly path: string } {
  const known = bases.get(baseUrl);
  if (known) return known;
  const { protocol, origin, pathname } = new URL(baseUrl);
  if (!/^https?:$/.test(protocol)) throw new MappingError('baseUrl is not an http or https address');
  const base = { origin, path: pathname.replace(/\/$/, '') };
  bases.set(baseUrl, base);
  return base;
}

function addHeaders(
  headers: string[],
  templates: Readonly<Record<string, string>>,
  hasBody: boolean,
  values: TemplateValues,
  credential: Credential | null,
): string[] {
  const names = Object.keys(templates);
  if (hasBody && !names.some((name) => name.toLowerCase() === 'content-type')) {
    headers.push('Content-Type', 'application/json');
  }
  if (credential !== null) headers.push(credential.header.name, credential.header.value);
  if (names.length === 0) return headers;
  const own = new Map<string, [name: string, value: string]>();
  for (const [name, template] of Object.entries(templates)) {
    const id = name.toLowerCase();
    if (runtimeHeaders.has(id) || id === credential?.header.name.toLowerCase())
      throw new MappingError(`the header ${name} cannot be set by a tool`);
    own.set(id, [name, fillHeader(template, values)]);
  }
  headers.push(...[...own.values()].flat());
  return headers;
}

async function bodyOf(
  expression: string | null,
  root: JsonObject & { readonly args: JsonObject },
): Promise<string | null> {
  const { args } = root;
  if (expression === null) return null;
  if (expression === '$args') return JSON.stringify(args);
  const body = await evaluate(expression, root, { args });
  if (body === undefined) throw new MappingError('the body expression selects nothing');
  return JSON.stringify(body);
}
