import type { JsonObject } from '@intendant/intent';
import { checkExpression, expressionNames, readsInput, usesWhole } from './check-expression.js';
import { checkProgram } from './check-requests.js';
import { checkHeaders, checkSegments, checkTemplate } from './check-text.js';
import { pointerSteps } from './json-pointer.js';
import { fieldsOf } from './placeholders.js';
import { changedStatuses, previewPath, readApply } from './read-preview.js';
import { kindOf, type UpstreamKind } from './read-upstream.js';
import { runtimeHeaders } from './runtime-headers.js';
import type { ToolSource } from './tool-source.js';
import { isTrustedName } from './trusted-fields.js';

const request = [...previewPath, 'request'];

/** A module answers by a function of its own. */
type Asked = Exclude<UpstreamKind, 'module'>;

/** How a preview is asked, per kind of upstream; `needs` comes first among what is allowed. */
const ways: Readonly<Record<Asked, { needs: string; may: readonly string[] }>> = {
  http: { needs: 'path', may: ['method', 'headers', 'body', 'readOnly'] },
  mcp: { needs: 'tool', may: ['arguments', 'readOnly'] },
  process: { needs: 'argv', may: ['readOnly'] },
};
const everyWay = Object.values(ways).flatMap(({ needs, may }) => [needs, ...may]);

/** What an expression about such an answer can name as a variable (libs/upstream, viewOf). */
const variables = {
  http: ['data', 'status', 'headers'],
  mcp: ['data', 'isError', 'text'],
  process: ['data', 'exit', 'stderr', 'text'],
  module: ['data'],
} as const;

/** Checks how the upstream is asked what a call would change, and how the call is tied to the answer. */
export function checkPreview(source: ToolSource): void {
  if (source.object(...previewPath) === null) return;
  const kind = kindOf(source);
  if (kind === 'module') {
    const stray = source.value(...request) !== undefined;
    if (stray) source.report(request, 'means nothing for a module, whose own function preview answers; remove it');
  } else if (source.object(...request) === null) {
    source.report(
      request,
      'missing; must say how the upstream is asked, such as { path: "/preview?order={{order_id}}" }',
    );
  } else {
    checkWay(source, kind);
    checkChangesNothing(source, kind);
  }
  checkUse(source);
  for (const field of ['before', 'token']) checkExpression(source, [...previewPath, field], variables[kind]);
  checkExpression(source, [...previewPath, 'after'], [...variables[kind], 'args']);
  checkReadsAnswer(source);
  checkRedacted(source);
  checkToken(source, kind);
}

function checkUse(source: ToolSource): void {
  if (source.text(...previewPath, 'use') !== 'sandbox' || source.object('upstream', 'sandbox') !== null) return;
  source.report([...previewPath, 'use'], 'there is no upstream.sandbox; must be real, or the tool must have one');
}

function checkWay(source: ToolSource, kind: Asked): void {
  const { needs, may } = ways[kind];
  for (const name of Object.keys(source.object(...request) ?? {})) {
    // Others are unknown everywhere, and reported as such.
    if (name === needs || may.includes(name) || !everyWay.includes(name)) continue;
    const known = `known here: ${[needs, ...may].join(', ')}`;
    source.report([...request, name], `means nothing for the preview of an upstream of kind ${kind}; ${known}`);
  }
  if (source.value(...request, needs) === undefined) {
    source.report([...request, needs], `missing; the preview of an upstream of kind ${kind} must have it`);
  }
  const fields = fieldsOf(source);
  checkTemplate(source, [...request, 'path'], fields);
  checkSegments(source, [...request, 'path']);
  checkHeaders(source, [...request, 'headers'], fields);
  checkProgram(source, [...request, 'argv'], fields);
  for (const field of ['body', 'arguments']) checkExpression(source, [...request, field], ['args']);
  if (kind === 'http' && methodOf(source) === 'GET' && source.value(...request, 'body') !== undefined) {
    source.report([...request, 'body'], 'a GET has no body; remove it, or use another method');
  }
}

/** A preview is asked before anybody agreed, so nothing may come of it. */
function checkChangesNothing(source: ToolSource, kind: Asked): void {
  if (kind === 'http' && methodOf(source) === 'GET') {
    if (source.value(...request, 'readOnly') !== undefined) {
      source.report([...request, 'readOnly'], 'means nothing for a GET, which changes nothing; remove it');
    }
    return;
  }
  if (source.text(...previewPath, 'use') === 'sandbox') return;
  if (source.value(...request, 'readOnly') !== true) {
    const what = { http: `a ${methodOf(source)}`, mcp: 'a tool', process: 'a program' }[kind];
    source.report(
      request,
      `${what} may change what is there, and nobody has agreed yet; must say readOnly: true if it changes nothing, or use: sandbox`,
    );
  } else if (isCallItself(source, kind)) {
    source.report(
      request,
      'is the call itself, which is to wait for an approval; must be a request that changes nothing',
    );
  }
}

function isCallItself(source: ToolSource, kind: Asked): boolean {
  const [call, preview] = [source.object('upstream', kind), source.object(...request)].map((fields) =>
    kind === 'mcp' ? { arguments: '$args', ...fields } : { ...fields },
  ) as [JsonObject, JsonObject];
  const told = { http: ['method', 'path', 'body', 'headers'], mcp: ['tool', 'arguments'], process: ['argv'] }[kind];
  return told.every((field) => JSON.stringify(call[field]) === JSON.stringify(preview[field]));
}

function checkReadsAnswer(source: ToolSource): void {
  for (const field of ['before', 'after', 'token']) {
    const text = source.text(...previewPath, field);
    if (text === null || readsInput(text)) continue;
    source.report(
      [...previewPath, field],
      'does not look at the answer, and says the same whatever that is; must name a field of it, such as data.version',
    );
  }
}

/** What `after` says is shown, whatever `approval.redact` says. */
function checkRedacted(source: ToolSource): void {
  const after = source.text(...previewPath, 'after') ?? '';
  const redact = source.value('approval', 'redact');
  const names = expressionNames(after);
  if (!Array.isArray(redact) || names === null) return;
  for (const pointer of redact.map(String)) {
    if (!names.has(pointerSteps(pointer)[0] ?? '') && !usesWhole(after, 'args')) continue;
    source.report(
      [...previewPath, 'after'],
      `would show ${pointer}, which approval.redact shows to nobody; must be without it`,
    );
  }
}

function checkToken(source: ToolSource, kind: UpstreamKind): void {
  const has = (field: string) => source.value(...previewPath, field) !== undefined;
  if (!has('token')) {
    for (const field of ['apply', 'changed'].filter(has)) {
      source.report([...previewPath, field], 'means nothing without a token; remove it, or say how the token is read');
    }
    return;
  }
  if (!has('apply')) {
    source.report(
      [...previewPath, 'apply'],
      'missing; must say how the token makes sure that what was approved is still there: if_match, reread, { header: X-Version } or { field: /version }',
    );
  }
  if (source.text(...previewPath, 'use') === 'sandbox') {
    source.report(
      [...previewPath, 'token'],
      'says what is there in the sandbox, which is not what the call changes; must be left out, or use must be real',
    );
  }
  checkApply(source, kind);
  checkChanged(source, kind);
}

function checkApply(source: ToolSource, kind: UpstreamKind): void {
  const apply = readApply(source);
  const path = [...previewPath, 'apply'];
  if (apply === null) return;
  if (apply.kind === 'field') checkField(source, apply.name, kind);
  if (apply.kind !== 'if_match' && apply.kind !== 'header') return;
  const name = apply.kind === 'header' ? apply.name : 'If-Match';
  if (kind !== 'http') {
    source.report(path, `an upstream of kind ${kind} has no headers of a call; must be { field: /version } or reread`);
  } else if (apply.kind === 'header' && !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
    source.report([...path, 'header'], 'not the name of a header; must be letters, digits and dashes');
  } else if (runtimeHeaders.has(name.toLowerCase()) || name.toLowerCase() === 'content-type') {
    source.report([...path, 'header'], 'set by the runtime; must be another header');
  } else if (headersOfCall(source).includes(name.toLowerCase())) {
    source.report(path, `the call has a header ${name} already; must be set by one of them only`);
  }
}

function headersOfCall(source: ToolSource): string[] {
  const [real, sandbox] = ['http', 'sandbox'].map((part) => source.object('upstream', part, 'headers') ?? {});
  return [...Object.keys(real ?? {}), ...Object.keys(sandbox ?? {})].map((name) => name.toLowerCase());
}

/** Whoever could set the field could approve for one version and write over another. */
function checkField(source: ToolSource, name: string, kind: UpstreamKind): void {
  const path = [...previewPath, 'apply', 'field'];
  if (fieldsOf(source).known.includes(name)) {
    source.report(path, `${name} is an argument or an injected field; must be a name that only the runtime sets`);
  } else if (isTrustedName(name)) {
    source.report(path, `${name} is the name of a trusted field; must be another, such as /version`);
  }
  // A module has all arguments.
  if (kind === 'module') return;
  const part = { http: 'body', mcp: 'arguments', process: 'input' }[kind];
  const text = source.text('upstream', kind, part) ?? (kind === 'http' ? null : '$args');
  if (text === null || !sends(text, name)) {
    source.report(
      path,
      `the call does not send it: upstream.${kind}.${part} ${text === null ? 'is left out' : `names neither ${name} nor all of $args`}; must hand it on, as in $args`,
    );
  }
}

function sends(text: string, name: string): boolean {
  const names = expressionNames(text);
  if (names === null) return true;
  return [name, '$', '$$'].some((each) => names.has(each)) || usesWhole(text, 'args');
}

function checkChanged(source: ToolSource, kind: UpstreamKind): void {
  const path = [...previewPath, 'changed'];
  const apply = readApply(source);
  const given = source.value(...path) !== undefined;
  if (given && (kind !== 'http' || apply?.kind === 'reread')) {
    const why = kind === 'http' ? 'where the call carries no token' : `for an upstream of kind ${kind}`;
    source.report(path, `means nothing ${why}; remove it`);
    return;
  }
  if (kind !== 'http' || apply === null || apply.kind === 'reread') return;
  for (const status of changedStatuses(source)) {
    if (source.value('upstream', 'statuses', `${status}`) === undefined) continue;
    source.report(
      ['upstream', 'statuses', `${status}`],
      `says otherwise than approval.preview, by which ${status} means that the token is not the current one; must be in one of them only`,
    );
  }
}

function methodOf(source: ToolSource): string {
  return source.text(...request, 'method') ?? 'GET';
}
