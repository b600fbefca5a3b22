import type { IntentResult } from '@intendant/contracts';
import type { Context } from './context.js';
import { printable } from './table.js';

/** Prints a result for a person or as JSON; a result with an error makes the command fail. */
export function showResult(context: Context, result: IntentResult, json: boolean | undefined): void {
  const { intentId, tool, status, outcome, replayed, data, error } = result;
  if (error) context.failed();
  if (json) {
    context.out(JSON.stringify(result));
    return;
  }
  context.out(`${tool}  ${status} (${outcome})${replayed ? ', answered from an earlier submit' : ''}`);
  context.out(`intent  ${intentId}`);
  if (data !== null) context.out(`data    ${printable(JSON.stringify(data))}`);
  if (error) {
    context.out(`error   ${error.code}: ${printable(error.message)}`);
    context.out(`next    ${error.nextAction}`);
  }
}
