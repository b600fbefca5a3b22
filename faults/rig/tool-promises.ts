import type { ToolDefinition } from '@intendant/contracts';
import { loadTools } from '@intendant/tools';
import type { ToolPromise } from '../history/history.js';

/** What the tools of a directory promise, by name. */
export async function promisesOf(toolsDir: string): Promise<Record<string, ToolPromise>> {
  // Where the upstream is does not matter here; the files only have to be complete.
  const tools = await loadTools(toolsDir, { UPSTREAM_URL: 'http://127.0.0.1:1' });
  return Object.fromEntries(tools.list().map(({ name, terms }) => [name, promiseOf(terms)]));
}

function promiseOf(terms: ToolDefinition['terms']): ToolPromise {
  const { effect, guarantee, settleMs, spacingMs, retentionMs, leaseMs, maxAttempts, lookup } = terms;
  const authoritative = lookup === 'authoritative';
  return { effect, guarantee, settleMs, spacingMs, retentionMs, leaseMs, maxAttempts, authoritative };
}
