import type { IntentResult } from '@intendant/contracts';
import type { Context } from './context.js';
import { printable } from './table.js';

/** As operators read one intent, it also says until when it may safely be sent again, and by which grant it goes. */
type Shown = IntentResult & { readonly safeResendUntil?: string | null; readonly grant?: string | null };

/** Prints a result for a person or as JSON; a result with an error makes the command fail. */
export function showResult(context: Context, result: Shown, json: boolean | undefined): void {
  const { intentId, tool, status, outcome, replayed, sandbox, safeResendUntil, grant, data } = result;
  const { summary, handle, warning, error } = result;
  if (error) context.failed();
  if (json) {
    context.out(JSON.stringify(result));
    return;
  }
  const marks = `${sandbox ? ', in the sandbox' : ''}${replayed ? ', answered from an earlier submit' : ''}`;
  context.out(`${tool}  ${status} (${outcome})${marks}`);
  context.out(`intent  ${intentId}`);
  if (grant) context.out(`grant   ${grant}`);
  if (safeResendUntil) context.out(`resend  safe until ${safeResendUntil}`);
  if (summary) context.out(`summary ${printable(summary)}`);
  if (handle) context.out(`handle  ${handle} (results read ${handle})`);
  if (warning) context.out(`warning ${printable(warning)}`);
  if (data !== null) context.out(`data    ${printable(JSON.stringify(data))}`);
  if (error) {
    context.out(`error   ${error.code}: ${printable(error.message)}`);
    const { rule, wouldAllow } = error.details;
    if (typeof rule === 'string') context.out(`rule    ${printable(rule)}`);
    if (typeof wouldAllow === 'string') context.out(`allowed ${printable(`by ${wouldAllow}`)}`);
    context.out(`next    ${error.nextAction}`);
  }
}
