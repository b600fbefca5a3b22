import { defaultPatterns, type Redaction, type RedactionPattern } from '@intendant/contracts';
import type { Json, Showing, ShownList } from '@intendant/intent';
import { isObject, type ToolSource } from './tool-source.js';

const defaultLimit = 20;
const defaultMax = 100;

/** What is taken out of results, from a file that was checked. */
export function readRedaction(source: ToolSource): Redaction {
  const patterns = source.value('result', 'patterns');
  return {
    pointers: texts(source.value('result', 'redact')),
    patterns: Array.isArray(patterns) ? (texts(patterns) as RedactionPattern[]) : defaultPatterns,
  };
}

/** How results are shown; null where the file says nothing about it. */
export function readShowing(source: ToolSource): Showing | null {
  const maxBytes = source.value('result', 'maxBytes');
  const list = source.object('result', 'list');
  if (maxBytes === undefined && list === null) return null;
  return { ...(maxBytes !== undefined && { maxBytes: Number(maxBytes) }), ...(list && { list: readList(source) }) };
}

/** The declared list with what was left out filled in. */
export function readList(source: ToolSource): ShownList {
  const list = source.object('result', 'list');
  const { at, limit, max, total, argument, order, narrow } = isObject(list) ? list : {};
  const most = typeof max === 'number' ? max : Math.max(defaultMax, Number(limit ?? 0));
  return {
    at: String(at ?? ''),
    limit: typeof limit === 'number' ? limit : Math.min(defaultLimit, most),
    max: most,
    ...(total !== undefined && { total: String(total) }),
    ...(argument !== undefined && { argument: String(argument) }),
    ...(order !== undefined && { order: String(order) }),
    ...(narrow !== undefined && { narrow: texts(narrow) }),
  };
}

function texts(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
