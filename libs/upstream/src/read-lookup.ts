import type { LookupReading, PollReading, ToolDefinition } from '@intendant/contracts';
import type { Json, JsonObject, LookupAnswer, PollAnswer } from '@intendant/intent';
import type { ValidateOutput } from './adapter.js';
import { evaluate } from './expression.js';
import { checked } from './read-verdict.js';
import { evaluateOn, type View } from './view.js';

/**
 * What the data that a lookup gave says: is the effect there, whole, and once?
 *
 * @throws MappingError when an expression fails
 */
export async function readLookup(
  tool: ToolDefinition,
  reading: LookupReading,
  data: Json,
  view: View,
  args: JsonObject,
  validate: ValidateOutput,
): Promise<LookupAnswer> {
  const present = await evaluateOn(view, reading.present);
  if (present !== true && present !== false) return cannotTell('"present" is neither true nor false for this answer');
  const count = reading.count === null ? null : await evaluateOn(view, reading.count);
  if (count !== null && !isCount(count)) return cannotTell('"count" is not a whole number for this answer');
  if (!present) {
    // What counts and is not there contradicts itself.
    return count === null || count === 0 ? { kind: 'absent' } : cannotTell(`not present, but "count" is ${count}`);
  }
  const receipt = reading.receipt === null ? data : await evaluateOn(view, reading.receipt);
  if (receipt === undefined) return cannotTell('present, but "receipt" selects nothing');
  const problem = checked(tool, receipt, validate);
  if (problem !== null) return cannotTell(`present, but the receipt is wrong: ${problem}`);
  if (count === null) return { kind: 'present', data: receipt };
  if (count === 0) return cannotTell('present, but "count" is 0');
  const parts = reading.parts === null ? 1 : await evaluate(reading.parts, { args }, { args });
  if (!isCount(parts) || parts === 0)
    return cannotTell('"parts" is not a whole number, 1 or more, for these arguments');
  if (count < parts) return { kind: 'partial', data: receipt, detail: `${count} of ${parts} parts are there` };
  return { kind: 'present', data: receipt, excess: count - parts };
}

/**
 * What the data that a poll gave says about a request that was accepted.
 *
 * @throws MappingError when an expression fails
 */
export async function readPoll(
  tool: ToolDefinition,
  reading: PollReading,
  data: Json,
  view: View,
  validate: ValidateOutput,
): Promise<PollAnswer> {
  const executed = await evaluateOn(view, reading.executed);
  const failed = await evaluateOn(view, reading.failed);
  if (!isAnswer(executed)) return pending('"executed" is neither true nor false for this answer');
  if (!isAnswer(failed)) return pending('"failed" is neither true nor false for this answer');
  if (executed === true && failed === true) return pending('the poll says both executed and failed');
  if (failed === true) return { kind: 'failed', detail: JSON.stringify(data) };
  if (executed !== true) return pending('not done yet');
  const receipt = reading.receipt === null ? data : await evaluateOn(view, reading.receipt);
  if (receipt === undefined) return pending('done, but "receipt" selects nothing');
  const problem = checked(tool, receipt, validate);
  return problem === null ? { kind: 'executed', data: receipt } : pending(`done, but the receipt is wrong: ${problem}`);
}

export function cannotTell(detail: string): LookupAnswer {
  return { kind: 'cannot_tell', detail };
}

export function pending(detail: string): PollAnswer {
  return { kind: 'pending', detail };
}

/** What selects nothing says no: an operation that is under way lacks the fields of one that has ended. */
function isAnswer(value: unknown): value is boolean | undefined {
  return typeof value === 'boolean' || value === undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}
