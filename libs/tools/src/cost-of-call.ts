import { type Cost, compile, costOf, costVariables, type Expression } from '@intendant/cel';
import type { ToolDefinition } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';

const compiled = new WeakMap<ToolDefinition, Expression>();

/**
 * What a call of a tool costs, in millionths, rounded up; 0 where the tool declares no cost. `args` are the arguments after
 * trusted fields were dropped. An error, such as a field that the expression needs and this call does not have, means that
 * the call cannot be charged for and must not be made.
 */
export function costOfCall(tool: ToolDefinition, args: JsonObject): Cost {
  const { cost } = tool.limits;
  if (cost === null) return { ok: true, micros: 0 };
  let expression = compiled.get(tool);
  if (!expression) {
    expression = compile(cost, costVariables(null));
    compiled.set(tool, expression);
  }
  return costOf(expression, { args });
}
