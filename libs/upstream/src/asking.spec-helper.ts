import type { ToolDefinition } from '@intendant/contracts';
import type { LookupRequest, UpstreamRequest } from './index.js';

/** A request of a run for which nothing but the tool matters, with what differs. */
export function asking(tool: ToolDefinition, over: Partial<LookupRequest> = {}): LookupRequest {
  return { tool, args: { n: 1 }, key: 'k', intentId: 'i', tenant: 't', runId: 'run_1', sandbox: false, ...over };
}

export function attempt(tool: ToolDefinition, attemptId: string, over: Partial<LookupRequest> = {}): UpstreamRequest {
  return { ...asking(tool, over), attemptId };
}
