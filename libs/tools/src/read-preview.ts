import type { PreviewDefinition, PreviewRequest, TokenDefinition, TokenUse } from '@intendant/contracts';
import { kindOf } from './read-upstream.js';
import { isObject, type Path, type ToolSource } from './tool-source.js';

export const previewPath: Path = ['approval', 'preview'];

/** How the upstream is asked what a call would change, of a file that was checked; null: it is not. */
export function readPreview(source: ToolSource): PreviewDefinition | null {
  if (source.object(...previewPath) === null) return null;
  return {
    request: readRequest(source),
    use: source.text(...previewPath, 'use') === 'sandbox' ? 'sandbox' : 'real',
    before: source.text(...previewPath, 'before'),
    after: source.text(...previewPath, 'after') ?? 'null',
    token: readToken(source),
  };
}

function readRequest(source: ToolSource): PreviewRequest {
  const request = [...previewPath, 'request'];
  const kind = kindOf(source);
  if (kind === 'module') return { kind };
  if (kind === 'mcp') {
    const text = source.text(...request, 'arguments') ?? '$args';
    return { kind, tool: source.text(...request, 'tool') ?? '', arguments: text };
  }
  if (kind === 'process') {
    const argv = source.value(...request, 'argv');
    return { kind, argv: (Array.isArray(argv) ? argv : []).map(String) as unknown as readonly [string] };
  }
  return {
    kind: 'http',
    method: (source.text(...request, 'method') ?? 'GET') as 'GET',
    path: source.text(...request, 'path') ?? '/',
    headers: (source.object(...request, 'headers') ?? {}) as Record<string, string>,
    body: source.text(...request, 'body'),
  };
}

function readToken(source: ToolSource): TokenDefinition | null {
  const read = source.text(...previewPath, 'token');
  const apply = readApply(source);
  return read === null || apply === null ? null : { read, apply, changedStatuses: changedStatuses(source) };
}

/** Null where the file says nothing about it. */
export function readApply(source: ToolSource): TokenUse | null {
  const apply = source.value(...previewPath, 'apply');
  if (apply === 'if_match' || apply === 'reread') return { kind: apply };
  if (!isObject(apply)) return null;
  const { header, field } = apply;
  if (typeof header === 'string') return { kind: 'header', name: header };
  return typeof field === 'string' ? { kind: 'field', name: field.slice(1) } : null;
}

export function changedStatuses(source: ToolSource): number[] {
  const changed = source.value(...previewPath, 'changed');
  return Array.isArray(changed) ? changed.map(Number) : [412];
}
