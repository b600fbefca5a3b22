import type { Bindings } from './bindings.js';
import type { Variables } from './check-parts.js';
import type { Expression } from './compile.js';

/** Largest cost of a call, in units: nine thousand million, so that millionths of it are still exact as a number. */
export const largestCost = 9_000_000_000;

const microsPerUnit = 1_000_000;

/** What a cost may depend on: the arguments of the call, with these fields; null: fields are not known. */
export function costVariables(fields: readonly string[] | null): Variables {
  return { args: fields };
}

/** What a call costs, in millionths of a unit of the operator's choice. */
export type Cost = { readonly ok: true; readonly micros: number } | { readonly ok: false; readonly error: string };

/**
 * The cost of a call by its arguments, rounded up to a millionth. Everything that is no cost is an error: the caller must
 * refuse what it cannot charge for.
 *
 * @param bindings `{ args }`.
 */
export function costOf(expression: Expression, bindings: Bindings | { readonly args: unknown }): Cost {
  const result = expression.evaluate(bindings);
  if (!result.ok) return result;
  const { value } = result;
  if (typeof value !== 'number') return { ok: false, error: 'the cost is not a number' };
  if (!Number.isFinite(value) || value < 0 || value > largestCost) {
    return { ok: false, error: `the cost is ${value}; must be from 0 to ${largestCost}` };
  }
  return { ok: true, micros: roundedUp(value * microsPerUnit) };
}

/** What lies above a whole number by no more than arithmetic on doubles adds (0.1 + 0.2) counts as that number. */
function roundedUp(micros: number): number {
  const near = Math.round(micros);
  return Math.abs(micros - near) <= near * 2 ** -50 ? near + 0 : Math.ceil(micros);
}
