import { constantText, inside, type Part, pathOf } from './syntax.js';

/** What an expression answers, as far as that can be told without evaluating it. */
export type KindOfAnswer = 'bool' | 'other' | 'unknown';

const bool: ReadonlySet<string> = new Set([
  ...['_==_', '_!=_', '_<_', '_<=_', '_>_', '_>=_', '_&&_', '_||_', '!_', '@in'],
  ...['contains', 'startsWith', 'endsWith', 'matches'],
]);
const other: ReadonlySet<string> = new Set([
  ...['_+_', '_-_', '_*_', '_/_', '_%_', '-_', 'size', 'int', 'double', 'string', 'type', 'sum'],
]);

export function kindOfAnswer({ exprKind: { case: kind, value } }: Part): KindOfAnswer {
  switch (kind) {
    case 'callExpr':
      if (bool.has(value.function)) return 'bool';
      return other.has(value.function) ? 'other' : 'unknown';
    case 'constExpr':
      return value.constantKind.case === 'boolValue' ? 'bool' : 'other';
    case 'listExpr':
    case 'structExpr':
      return 'other';
    case 'selectExpr':
      return value.testOnly ? 'bool' : 'unknown';
    default:
      return 'unknown';
  }
}

/** A path that is compared with a text: `tool.effect == 'read'`, or one of several with `in`. */
export interface Comparison {
  readonly path: readonly string[];
  readonly text: string;
}

/** Every comparison of a path with a constant text, wherever it stands. */
export function comparisonsIn(part: Part): Comparison[] {
  return [...compared(part), ...inside(part).flatMap(comparisonsIn)];
}

function compared({ exprKind: { case: kind, value } }: Part): Comparison[] {
  if (kind !== 'callExpr') return [];
  const [left, right] = value.args;
  if (!left || !right) return [];
  if (value.function === '@in') return textsOf(right).flatMap((text) => pair(left, text));
  if (value.function !== '_==_' && value.function !== '_!=_') return [];
  return [...pair(left, constantText(right)), ...pair(right, constantText(left))];
}

function pair(part: Part, text: string | null): Comparison[] {
  const path = pathOf(part);
  return path === null || text === null ? [] : [{ path, text }];
}

function textsOf({ exprKind: { case: kind, value } }: Part): (string | null)[] {
  return kind === 'listExpr' ? value.elements.map(constantText) : [];
}
