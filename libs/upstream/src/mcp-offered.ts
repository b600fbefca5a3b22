import type { Client } from '@modelcontextprotocol/client';

/** Most pages of a list that are read: a server may answer a next page for ever. */
const mostPages = 50;

/** The tools that a server says it has, by name; true: it can only be called as a task (`execution.taskSupport`). */
export type Offered = ReadonlyMap<string, boolean>;

/**
 * Asks a server for its list of tools (`tools/list`, MCP server features).
 *
 * @returns null where it does not give one within `ms`: then only a call can tell
 */
export async function offeredBy(client: Client, ms: number): Promise<Offered | null> {
  if (client.getServerCapabilities()?.tools === undefined) return null;
  const offered = new Map<string, boolean>();
  const signal = AbortSignal.timeout(ms);
  let cursor: string | undefined;
  try {
    for (let page = 0; page < mostPages; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const { tools, nextCursor } = await client.request({ method: 'tools/list', params }, { signal, timeout: ms });
      for (const { name, execution } of tools) offered.set(name, execution?.taskSupport === 'required');
      if (nextCursor === undefined) return offered;
      cursor = nextCursor;
    }
  } catch {
    // What cannot be listed may be there all the same.
  }
  return null;
}

/** Why a tool cannot be called, or null. */
export function obstacleTo(tool: string, offered: Offered | null): string | null {
  if (offered === null) return null;
  const asTask = offered.get(tool);
  if (asTask === undefined) return `the server has no tool ${tool}`;
  return asTask ? `the server runs ${tool} as a task only, and no call is made as a task` : null;
}
