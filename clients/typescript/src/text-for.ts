import { textOf, textOfError } from '../../../libs/contracts/src/text-of.js';
import { textOfPage } from '../../../libs/contracts/src/text-of-page.js';
import { IntendantError, NoOutcomeYet } from './errors.js';
import type { IntentResult, ResultPage } from './wire.js';

/**
 * What a model is told about a call: what is known and what to do first, then the data. What was written outside stands
 * between two lines with a random marker, which it cannot forge.
 */
export function textFor(it: IntentResult | IntendantError | NoOutcomeYet): string {
  if (it instanceof IntendantError) return textOfError(it.error);
  if (!(it instanceof NoOutcomeYet)) return textOf(it);
  return it.result === null ? it.message : textOf(it.result);
}

/** A part of what a tool answered, as a model is told it. */
export function textForPage(page: ResultPage): string {
  return textOfPage(page);
}
