import {
  type ErrorObject,
  type IntentResult,
  isSettled,
  type ResultPage,
  replayedNote,
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
  const said = result.error?.message ?? shown;
  const sentences = [
    ...(result.replayed ? [replayedNote] : []),
    said === null || isSettled(result.status) ? said : `${said} ${howToAsk}`,
  ];
  const told = { ...result, summary: shown };
  return {
    content: result.untrusted
      ? [text(isSettled(result.status) ? textOf(told) : `${textOf(told)}\n${howToAsk}`)]
      : [...sentences.filter((each) => each !== null), JSON.stringify(told)].map(text),
    structuredContent: { ...told },
    isError: result.error !== null && result.outcome === 'not_executed',
  };
}

/** Of what has no outcome yet: the words for reading an intent, on this surface. */
const howToAsk = 'intendant.intent.get reads it; go on with what does not depend on it.';

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

/** A page of what an intent answered. */
export function answerOfPage(page: ResultPage): CallToolResult {
  const texts = page.untrusted ? [textOfPage(page)] : [JSON.stringify(page)];
  return { content: texts.map(text), structuredContent: { ...page } };
}

/** An answer that is about no intent. */
export function answerOfData(data: Record<string, unknown>): CallToolResult {
  return { content: [text(JSON.stringify(data))], structuredContent: data };
}

/** What is happening to a call that somebody waits for. */
export function progressOf({ tool, status, summary, error }: IntentResult): string {
  return error?.message ?? summary ?? `${tool} is ${status}.`;
}

function text(of: string): { type: 'text'; text: string } {
  return { type: 'text', text: of };
}
