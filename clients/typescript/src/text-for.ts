import { fenced } from '../../../libs/contracts/src/fence.js';
import { textOf, textOfError } from '../../../libs/contracts/src/text-of.js';
import { IntendantError, NoOutcomeYet } from './errors.js';
import { openStatuses } from './open-statuses.js';
import type { IntentResult, ResultPage } from './wire.js';

/**
 * What a model is told about a call: what is known and what to do first, then the data. What was written outside stands
 * between two lines with a random marker, which it cannot forge.
 */
export function textFor(it: IntentResult | IntendantError | NoOutcomeYet): string {
  if (it instanceof IntendantError) return textOfError(it.error);
  if (!(it instanceof NoOutcomeYet)) return textForResult(it);
  return it.result === null ? it.message : textForResult(it.result);
}

/** A part of what a tool answered, as a model is told it. */
export function textForPage({ tool, pointer, kind, total, data, omitted, nextCursor, untrusted }: ResultPage): string {
  const part = JSON.stringify({ pointer, kind, total, data, ...(omitted.length > 0 && { omitted }) });
  const rest = nextCursor === null ? 'There is no more of it' : `cursor ${nextCursor} reads on`;
  return `A part of what ${tool} answered; ${rest}.\n${untrusted ? fenced(part) : part}`;
}

function textForResult(result: IntentResult): string {
  const { intentId, status, error, summary } = result;
  const text = textOf(result);
  // What it waits for, or why its outcome is not known, says already what to do.
  if (!openStatuses.has(status) || error !== null || summary !== null) return text;
  return `${text}\nIt is still being worked on: it may have happened by now or may still happen. Do not call it again. Intent ${intentId} can be asked about; go on with what does not depend on it.`;
}
