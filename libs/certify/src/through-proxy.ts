import type { ToolDefinition, Upstream } from '@intendant/contracts';

/** Address of an upstream that is spoken to over HTTP, or null. */
export function httpAddressOf(upstream: Upstream): URL | null {
  if (upstream.kind === 'http') return new URL(upstream.baseUrl);
  if (upstream.kind === 'mcp' && upstream.server.transport === 'http') return new URL(upstream.server.url);
  return null;
}

/** The tool with the upstream that is under test behind a proxy at `origin`; everything else as it is. */
export function throughProxy(tool: ToolDefinition, sandbox: boolean, origin: string): ToolDefinition {
  const field = sandbox ? 'sandbox' : 'upstream';
  const upstream = tool[field];
  return upstream === null ? tool : { ...tool, [field]: moved(upstream, origin) };
}

function moved(upstream: Upstream, origin: string): Upstream {
  const move = (url: string) => {
    const { pathname, search } = new URL(url);
    return `${origin}${pathname}${search}`;
  };
  if (upstream.kind === 'http') return { ...upstream, baseUrl: move(upstream.baseUrl) };
  if (upstream.kind !== 'mcp' || upstream.server.transport !== 'http') return upstream;
  return { ...upstream, server: { ...upstream.server, url: move(upstream.server.url) } };
}
