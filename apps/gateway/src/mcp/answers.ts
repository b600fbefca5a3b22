import { type ErrorObject, type IntentResult, isSettled, replayedNote, textOf } from '@intendant/contracts';
import type { CallToolResult } from '@modelcontextprotocol/server';

/**
 * A result as the answer to a `tools/call`. `isError` is said of what is over and did not happen, and of nothing else:
 * clients and models take it for "failed, try again".
 */
export function answerOf(result: IntentResult): CallToolResult {
  const summary = result.summary ?? (result.error === null ? stillOpen(result) : null);
  const sentences = [...(result.replayed ? [replayedNote] : []), result.error?.message ?? summary];
  const told = { ...result, summary };
  return {
    content: result.untrusted
      ? [text(textOf(told))]
      : [...sentences.filter((each) => each !== null), JSON.stringify(told)].map(text),
    structuredContent: { ...told },
    isError: result.error !== null && result.outcome === 'not_executed',
  };
}

/**
 * What was refused before anything was recorded, or could not be looked up. With `outcome_unknown` nobody knows whether
 * anything was recorded: that is no error, and there is no intent to ask about.
 */
export function answerOfError(refused: ErrorObject): CallToolResult {
  const unclear = refused.code === 'outcome_unknown';
  const error: ErrorObject = unclear ? { ...refused, nextAction: 'ask_human' } : refused;
  const told = { ...(unclear && { outcome: 'unknown' }), error };
  return {
    content: [text(error.message), text(JSON.stringify(told))],
    structuredContent: told,
    isError: !unclear,
  };
}

/** An answer that is about no intent. */
export function answerOfData(data: Record<string, unknown>): CallToolResult {
  return { content: [text(JSON.stringify(data))], structuredContent: data };
}

function stillOpen({ status, tool, intentId }: IntentResult): string | null {
  if (isSettled(status)) return null;
  return `${tool} is still being worked on (${status}); nothing is lost. Do not call it again: ask intendant.intent.get about intent ${intentId}, or go on with something that does not depend on it.`;
}

function text(of: string): { type: 'text'; text: string } {
  return { type: 'text', text: of };
}
