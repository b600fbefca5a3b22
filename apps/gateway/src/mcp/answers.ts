import {
  type ErrorObject,
  type IntentResult,
  isSettled,
  type ResultPage,
  textOf,
  textOfPage,
} from '@intendant/contracts';
import { getResult } from '@intendant/tools';
import type { CallToolResult } from '@modelcontextprotocol/server';

/**
 * A result as the answer to a `tools/call`. `isError` is said of what is over and did not happen, and of nothing else:
 * clients and models take it for "failed, try again".
 */
export function answerOf(result: IntentResult): CallToolResult {
  const shown = result.handle === null ? result.summary : `${result.summary} Call ${getResult.name} with it.`;
  const summary = shown ?? (result.error === null ? stillOpen(result) : null);
  const sentence = result.error?.message ?? summary;
  const told = { ...result, summary };
  return {
    content: result.untrusted
      ? [text(textOf(told))]
      : [...(sentence === null ? [] : [text(sentence)]), text(JSON.stringify(told))],
    structuredContent: { ...told },
    isError: result.error !== null && result.outcome === 'not_executed',
  };
}

/** What was refused before anything was recorded, or could not be looked up. */
export function answerOfError(error: ErrorObject): CallToolResult {
  return {
    content: [text(error.message), text(JSON.stringify({ error }))],
    structuredContent: { error },
    isError: true,
  };
}

/** A page of what an intent answered. */
export function answerOfPage(page: ResultPage): CallToolResult {
  const texts = page.untrusted ? [textOfPage(page)] : [JSON.stringify(page)];
  return { content: texts.map(text), structuredContent: { ...page } };
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
