import { nearest } from '@intendant/tools';
import type { ToolPatterns } from './policy-set.js';

/** Whether a tool is meant. */
export function covers(patterns: ToolPatterns, tool: string): boolean {
  return patterns === null || patterns.some((pattern) => matches(pattern, tool));
}

/** Why a pattern means no tool, with the one that was probably meant; null when it means some. */
export function patternMistake(pattern: string, tools: readonly string[]): string | null {
  if (tools.some((tool) => matches(pattern, tool))) return null;
  const known = pattern.endsWith('.*') ? tools.flatMap(namespacesOf) : tools;
  const near = nearest(pattern, known);
  return `matches no tool that is loaded; ${near ? `did you mean ${near}?` : 'must be the name of a tool, or a namespace such as payments.*'}`;
}

function matches(pattern: string, tool: string): boolean {
  return pattern.endsWith('.*') ? tool.startsWith(pattern.slice(0, -1)) : pattern === tool;
}

/** `payments.*` and `payments.refund.*` for `payments.refund.create`. */
function namespacesOf(tool: string): string[] {
  const words = tool.split('.');
  return words.slice(1).map((_, index) => `${words.slice(0, index + 1).join('.')}.*`);
}
