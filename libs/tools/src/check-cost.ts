import { CelError, compile, costVariables } from '@intendant/cel';
import type { ToolSource } from './tool-source.js';

/** Checks that the cost is CEL over arguments that the tool has. */
export function checkCost(source: ToolSource): void {
  const text = source.text('limits', 'cost');
  if (text === null) return;
  try {
    compile(text, costVariables(argumentNames(source)));
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    source.report(['limits', 'cost'], `${error.sentence}; must be CEL over args, such as args.amount_cents / 100.0`);
  }
}

/** Names of all arguments; null when there may be others. */
function argumentNames(source: ToolSource): readonly string[] | null {
  const properties = source.object('input', 'properties');
  const others = source.value('input', 'patternProperties') !== undefined;
  return others ? null : Object.keys(properties ?? {});
}
