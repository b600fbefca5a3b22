import type { ErrorObject, IntentResult } from '@intendant/contracts';

/** The answer to one submit: `result` is null where nothing was recorded. */
export interface Reply {
  readonly status: number;
  readonly result: IntentResult | null;
  readonly error: ErrorObject | null;
}

/** An answer in one line: status, what is known about the effect, and the data or the error. */
export function describeReply({ status, result, error }: Reply): string {
  const words = [String(status)];
  if (result) words.push(`${result.status}, ${result.outcome}`);
  if (result?.replayed) words.push('(answered from the first call)');
  if (result?.summary != null) words.push(result.summary);
  if (result?.data != null) words.push(JSON.stringify(result.data));
  if (error) words.push(`${error.code}: ${error.message}`);
  return words.join(' ');
}
