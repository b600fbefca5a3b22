import { Refusal } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import type { CatalogueEntry } from '@intendant/tools';
import type { Tool, ToolAnnotations } from '@modelcontextprotocol/server';
import { answerSchema } from './answer-schema.js';

const pageSize = 50;

/**
 * `idempotentHint`: the same call sent again (of the same step, or with the same arguments) finds the intent of the
 * first where that may have had an effect, so nothing is done twice. What an upstream touches is not known here, so every world is an open one.
 */
const annotations: Readonly<Record<CatalogueEntry['effect'], ToolAnnotations>> = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  write: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  destructive: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
};

/** A tool of the catalogue, as MCP lists it. */
export function listed({ name, description, effect, inputSchema, outputSchema }: CatalogueEntry): Tool {
  return {
    name,
    description,
    inputSchema: inputSchema as Tool['inputSchema'],
    outputSchema: answerSchema(outputSchema) as NonNullable<Tool['outputSchema']>,
    annotations: annotations[effect],
  };
}

export interface Page {
  readonly tools: Tool[];
  readonly nextCursor?: string;
}

/** Tools by name, from the one after the cursor on. @throws Refusal `invalid_message` */
export function pageOf(tools: readonly Tool[], cursor: string | undefined): Page {
  const after = cursor === undefined ? '' : readCursor(cursor);
  const rest = tools.filter(({ name }) => name > after).sort((a, b) => (a.name < b.name ? -1 : 1));
  const page = rest.slice(0, pageSize);
  const last = page.at(-1);
  return {
    tools: page,
    ...(last && rest.length > pageSize && { nextCursor: Buffer.from(last.name).toString('base64url') }),
  };
}

function readCursor(cursor: string): string {
  const name = Buffer.from(cursor, 'base64url').toString();
  if (/^[a-z][a-z0-9_.]*$/.test(name)) return name;
  throw new Refusal('invalid_message', 'The cursor is not one of this server; list again without one.');
}

/** How many tools there are under each first word of their names. */
export function namespacesOf(tools: readonly CatalogueEntry[]): JsonObject[] {
  const counts = new Map<string, number>();
  for (const { name } of tools) {
    const namespace = name.slice(0, name.indexOf('.'));
    counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  }
  return [...counts].sort().map(([namespace, count]) => ({ namespace, tools: count }));
}
