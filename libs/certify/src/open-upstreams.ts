import type { ToolDefinition } from '@intendant/contracts';
import { createRegistry } from '@intendant/tools';
import { type UpstreamAdapter, Upstreams } from '@intendant/upstream';

/**
 * The way out for one effect, as the services have it. Each effect has its own: a circuit breaker or a connection that
 * one fault has spoilt must not decide about the next.
 */
export function openUpstreams(tool: ToolDefinition): UpstreamAdapter {
  const registry = createRegistry([tool]);
  return new Upstreams((of, data) => registry.checkOutput(of, data));
}
