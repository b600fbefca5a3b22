import { countParts, inside, type Part } from './syntax.js';

/**
 * Makes every loop of an expression (`all`, `exists`, `exists_one`, `map`, `filter`) pay before it begins, for each element
 * times the parts of its body, and makes `map` and `filter` add to one list where the library would make a new one per
 * element. Changes the parts in place.
 */
export function meterLoops(part: Part): void {
  for (const each of inside(part)) meterLoops(each);
  if (part.exprKind.case !== 'comprehensionExpr') return;
  const loop = part.exprKind.value;
  const { iterRange, accuInit, loopCondition, loopStep, accuVar } = loop;
  if (!iterRange || !accuInit || !loopCondition || !loopStep) return;
  const parts = 1 + countParts(loopCondition) + countParts(loopStep);
  loop.iterRange = call(part, '@range', [{ ...iterRange }, constant(part, parts)]);
  if (accuInit.exprKind.case === 'listExpr' && accuInit.exprKind.value.elements.length === 0) {
    loop.accuInit = call(part, '@list', []);
    appendInPlace(loopStep, accuVar);
  }
}

/** `result + [item]`, alone or under the condition of a filter. */
function appendInPlace(step: Part, accuVar: string): void {
  if (step.exprKind.case !== 'callExpr') return;
  const { function: name, args } = step.exprKind.value;
  const [first, second] = args;
  if (name === '_?_:_' && second) appendInPlace(second, accuVar);
  const onResult = first?.exprKind.case === 'identExpr' && first.exprKind.value.name === accuVar;
  if (name !== '_+_' || !first || !onResult || second?.exprKind.case !== 'listExpr') return;
  const [item] = second.exprKind.value.elements;
  if (item) step.exprKind = call(step, '@append', [first, item]).exprKind;
}

function call({ id }: Part, name: string, args: Part[]): Part {
  return {
    $typeName: 'cel.expr.Expr',
    id,
    exprKind: { case: 'callExpr', value: { $typeName: 'cel.expr.Expr.Call', function: name, args } },
  };
}

function constant({ id }: Part, value: number): Part {
  return {
    $typeName: 'cel.expr.Expr',
    id,
    exprKind: {
      case: 'constExpr',
      value: { $typeName: 'cel.expr.Constant', constantKind: { case: 'int64Value', value: BigInt(value) } },
    },
  };
}
