import type { parse } from '@bufbuild/cel';

/** A parsed expression, macros written out (cel-spec, `cel.expr.ParsedExpr`). */
export type Parsed = ReturnType<typeof parse>;
/** One part of it. */
export type Part = NonNullable<Parsed['expr']>;

/** The parts directly inside a part. */
export function inside({ exprKind: { case: kind, value } }: Part): readonly Part[] {
  switch (kind) {
    case 'selectExpr':
      return present(value.operand);
    case 'callExpr':
      return present(value.target, ...value.args);
    case 'listExpr':
      return value.elements;
    case 'structExpr':
      return value.entries.flatMap((entry) =>
        present(entry.keyKind.case === 'mapKey' ? entry.keyKind.value : undefined, entry.value),
      );
    case 'comprehensionExpr':
      return present(value.iterRange, value.accuInit, value.loopCondition, value.loopStep, value.result);
    default:
      return [];
  }
}

/** How many parts there are, the part itself included. */
export function countParts(part: Part): number {
  return inside(part).reduce((sum, each) => sum + countParts(each), 1);
}

/** The text that a part is, when it is a constant text. */
export function constantText(part: Part | undefined): string | null {
  if (part?.exprKind.case !== 'constExpr') return null;
  const { constantKind } = part.exprKind.value;
  return constantKind.case === 'stringValue' ? constantKind.value : null;
}

/**
 * The path that a part reads: `args.items` and `args["items"]` are `[args, items]`. Null when it is no plain path. The first
 * name may be a variable or the element of a loop.
 */
export function pathOf({ exprKind: { case: kind, value } }: Part): readonly string[] | null {
  switch (kind) {
    case 'identExpr':
      return [value.name];
    case 'selectExpr':
      return step(value.operand, value.field);
    case 'callExpr':
      return value.function === '_[_]' ? step(value.args[0], constantText(value.args[1])) : null;
    default:
      return null;
  }
}

function step(from: Part | undefined, name: string | null): readonly string[] | null {
  const path = from && name !== null ? pathOf(from) : null;
  return path && name !== null ? [...path, name] : null;
}

function present(...parts: readonly (Part | undefined)[]): Part[] {
  return parts.filter((part) => part !== undefined);
}
