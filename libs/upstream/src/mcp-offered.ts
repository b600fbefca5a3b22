import type { Client } from '@modelcontextprotocol/client';

/** Most pages of a list that are read: a server may answer a next page for ever. */
const mostPages = 50;

/**
 * The names of the tools that a server says it has (`tools/list`, MCP server features), or null where it does not say
 * so within `ms`: then only a call can tell.
 */
export async function offeredBy(client: Client, ms: number): Promise<ReadonlySet<string> | null> {
  if (client.getServerCapabilities()?.tools === undefined) return null;
  const names = new Set<string>();
  const signal = AbortSignal.timeout(ms);
  let cursor: string | undefined;
  try {
    for (let page = 0; page < mostPages; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const { tools, nextCursor } = await client.request({ method: 'tools/list', params }, { signal, timeout: ms });
      for (const { name } of tools) names.add(name);
      if (nextCursor === undefined) return names;
      cursor = nextCursor;
    }
  } catch {
    // What cannot be listed may be there all the same.
  }
  return null;
}
