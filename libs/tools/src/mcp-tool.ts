import type { JsonObject } from '@intendant/intent';
import { answerSchema } from './answer-schema.js';
import type { CatalogueEntry } from './catalogue.js';

/** A tool as MCP lists it. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  readonly annotations: McpAnnotations;
}

export interface McpAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/**
 * `idempotentHint`: the same call sent again finds the intent of the first (of the same step, or with the same
 * arguments), so nothing is done twice. What an upstream touches is not known here, so every world is an open one.
 */
const annotations: Readonly<Record<CatalogueEntry['effect'], McpAnnotations>> = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  write: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  destructive: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
};

/** A tool of the catalogue, as MCP lists it. */
export function mcpTool({ name, description, effect, inputSchema, outputSchema }: CatalogueEntry): McpTool {
  return { name, description, inputSchema, outputSchema: answerSchema(outputSchema), annotations: annotations[effect] };
}
