import { Refusal } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import type { CatalogueEntry, McpTool } from '@intendant/tools';
import type { Tool } from '@modelcontextprotocol/server';

const pageSize = 50;

export interface Page {
  readonly tools: Tool[];
  readonly nextCursor?: string;
  /** How many follow on later pages. */
  readonly left: number;
}

/** Tools by name, from the one after the cursor on. @throws Refusal `invalid_message` */
export function pageOf(tools: readonly McpTool[], cursor: string | undefined): Page {
  const after = cursor === undefined ? '' : readCursor(cursor);
  const rest = tools.filter(({ name }) => name > after).sort((a, b) => (a.name < b.name ? -1 : 1));
  const page = rest.slice(0, pageSize);
  const last = page.at(-1);
  return {
    tools: page as unknown as Tool[],
    left: rest.length - page.length,
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
