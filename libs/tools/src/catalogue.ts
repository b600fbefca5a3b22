import type { Session, ToolDefinition } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import { withoutSources } from './identifiers.js';
import { mayCall } from './may-call.js';
import type { ToolRegistry } from './registry.js';

/** What a model is told about a tool. */
export type CatalogueEntry = Pick<ToolDefinition, 'name' | 'description' | 'version' | 'effect' | 'reversible'> & {
  readonly inputSchema: ToolDefinition['input'];
  readonly outputSchema: ToolDefinition['output'];
};

/** The tools that a session may call, by name; nothing of the runtime layer. In a sandbox run, those with a sandbox. */
export function catalogue(registry: ToolRegistry, session: Session): CatalogueEntry[] {
  return registry
    .list()
    .filter((tool) => mayCall(tool, session).allowed && (!session.sandbox || tool.sandbox !== null))
    .map(catalogueEntry);
}

/** What a model is told about this tool. */
export function catalogueEntry(tool: ToolDefinition): CatalogueEntry {
  const { name, description, version, effect, reversible, input, output } = tool;
  return { name, description, version, effect, reversible, inputSchema: shown(input), outputSchema: output };
}

const plain = new WeakMap<JsonObject, JsonObject>();

/** The schema without what only the runtime reads, made once. */
function shown(schema: JsonObject): JsonObject {
  const made = plain.get(schema) ?? withoutSources(schema);
  plain.set(schema, made);
  return made;
}
