import type { ToolDefinition } from '@intendant/contracts';
import type { Json, JsonObject } from '@intendant/intent';
import type { ArgumentProblem } from './argument-problem.js';
import { checkArguments, checkOutput } from './check-arguments.js';
import { compileSchema } from './compile-schema.js';
import { yieldsFor } from './identifiers.js';
import { nearest } from './suggest.js';

/** The tools of a process, loaded once and never changed. */
export interface ToolRegistry {
  /** All tools, by name. */
  list(): readonly ToolDefinition[];
  get(name: string): ToolDefinition | undefined;
  /** Every violation of the tool's input schema at once; empty when the arguments are good. */
  check(tool: ToolDefinition, args: JsonObject): ArgumentProblem[];
  /** Why data is not the output that the tool declares; null when it is. */
  checkOutput(tool: ToolDefinition, data: Json): string | null;
  /** The name that was most likely meant. `visible` limits the answer to what the caller may know about. */
  suggest(name: string, visible?: (tool: ToolDefinition) => boolean): string | undefined;
}

/** A registry of tools with different names, in the order of their names. */
export function createRegistry(tools: readonly ToolDefinition[]): ToolRegistry {
  const sorted = tools.map((tool) => withYields(tool, tools)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const byName = new Map(sorted.map((tool) => [tool.name, tool]));
  for (const { input, output } of sorted) {
    compileSchema(input);
    if (output) compileSchema(output);
  }
  return {
    list: () => sorted,
    get: (name) => byName.get(name),
    check: checkArguments,
    checkOutput,
    suggest: (name, visible = () => true) =>
      nearest(
        name,
        sorted.filter(visible).map((tool) => tool.name),
      ),
  };
}

/** What other tools take from a tool's results is noted with each of its intents. */
function withYields(tool: ToolDefinition, tools: readonly ToolDefinition[]): ToolDefinition {
  const yields = yieldsFor(tool, tools);
  return yields.length === 0 ? tool : { ...tool, terms: { ...tool.terms, yields } };
}
