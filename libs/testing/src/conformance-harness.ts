import type { ToolDefinition, Upstream } from '@intendant/contracts';
import type { Json } from '@intendant/intent';
import type { UpstreamAdapter } from '@intendant/upstream';
import { toolAt } from './misbehaving-tool.js';
import type { ScriptedUpstream } from './scripted-upstream.js';

/** One adapter with a real upstream behind it, for {@link describeConformance}. */
export interface ConformanceHarness {
  /**
   * Made with {@link needsReceipt} and {@link maxAnswerBytes}. For the credentials named in `real` and `sandbox` it
   * hands over the secrets of {@link secrets}.
   */
  readonly adapter: UpstreamAdapter;
  /** Decides what the upstream does, and holds what it saw. */
  readonly script: ScriptedUpstream;
  /**
   * Has lookup and poll; reads the answers of {@link ScriptedUpstream}: a `refuse` means `not_executed`, an `accept`
   * means `accepted`. Its credential is `conformance`.
   */
  readonly real: Upstream;
  /** The same, with the credential `conformance_sandbox`. */
  readonly sandbox: Upstream;
  /** The same tool where nobody is. */
  readonly unreachable: Upstream;
  /** Call limit, in ms, for cases that wait for its end: the upstream must have come to its effect before it. */
  readonly timeoutMs: number;
  /** Resolves once nothing that the adapter started is going on any more; rejects when that takes long. */
  atRest(): Promise<void>;
  stop(): Promise<void>;
}

export const secrets: Readonly<Record<string, string>> = {
  conformance: 'secret-of-the-real-thing',
  conformance_sandbox: 'secret-of-the-sandbox',
};

/** What every adapter under test reads of an answer. */
export const maxAnswerBytes = 100_000;

/** The output schema of the tools under test: an object with `id`. */
export function needsReceipt(_: ToolDefinition, data: Json): string | null {
  return typeof data === 'object' && data !== null && 'id' in data ? null : 'id is missing';
}

/** How a lookup of a data-answering upstream reads {@link ScriptedUpstream.lookup}. */
export const lookupReading = { present: '$count(data.found) > 0', receipt: 'data.found[0]', count: null, parts: null };

/** How a poll reads {@link ScriptedUpstream.poll}. */
export const pollReading = { executed: 'state = "done"', failed: 'state = "failed"', receipt: 'result' };

/** A destructive tool at any kind of upstream. */
export function toolOf(
  upstream: Upstream,
  changes: Partial<ToolDefinition> = {},
  limits: Partial<ToolDefinition['limits']> = {},
): ToolDefinition {
  const tool = toolAt('http://localhost', { limits });
  return { ...tool, upstream, terms: { ...tool.terms, poll: { everyMs: 100, deadlineMs: 10_000 } }, ...changes };
}
