import type { ToolDefinition } from '@intendant/contracts';
import type { Json, JsonObject } from '@intendant/intent';
import type { ArgumentProblem } from './argument-problem.js';
import { violations } from './compile-schema.js';
import { describeViolation } from './describe-violation.js';

/** A longer list helps nobody, and hostile arguments must not make the answer larger than the question. */
const mostProblems = 100;

/** Every violation of the tool's input schema at once; empty when the arguments are good. */
export function checkArguments(tool: ToolDefinition, args: JsonObject): ArgumentProblem[] {
  const found = violations(tool.input, args);
  const problems = found.slice(0, mostProblems).map(describeViolation);
  const left = found.length - problems.length;
  if (left > 0)
    problems.push({ pointer: '', expected: 'arguments with fewer mistakes', got: `${left} more, not listed` });
  return problems;
}

/** Why an upstream's answer is not the output that the tool declares, in one sentence; null when it is. */
export function checkOutput(tool: ToolDefinition, data: Json): string | null {
  if (tool.output === null) return null;
  const found = violations(tool.output, data);
  const [first] = found;
  if (!first) return null;
  const { pointer, expected, got } = describeViolation(first);
  const more = found.length > 1 ? ` (and ${found.length - 1} more)` : '';
  return `the answer does not fit the output schema: ${pointer || 'the whole answer'}: expected ${expected}, got ${got}${more}`;
}
