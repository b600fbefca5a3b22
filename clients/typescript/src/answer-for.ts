import { IntendantError, NoOutcomeYet } from './errors.js';
import { NoAnswer, parsed } from './http.js';
import type { ModelCall } from './models.js';
import { ownAnswer, type Readable } from './own-tools.js';
import type { Run, WaitOptions } from './run.js';
import { textFor } from './text-for.js';
import type { JsonObject } from './wire.js';

/**
 * Makes the call that a model wants, of a tool of the run or of {@link ownTools}, and gives the text that the model is
 * told: also where the call was refused, or has no outcome when `wait` (in ms, two minutes without it) is over.
 */
export async function answerFor(
  run: Readable & Pick<Run, 'call'>,
  { tool, args, stepId }: ModelCall,
  options: WaitOptions = {},
): Promise<string> {
  const { signal } = options;
  try {
    const own = await ownAnswer(run, tool, objectIn(args), signal);
    return own ?? textFor(await run.call(tool, args, { ...options, stepId }));
  } catch (error) {
    if (error instanceof NoOutcomeYet || error instanceof IntendantError) return textFor(error);
    // A call does not end so.
    if (error instanceof NoAnswer) return 'No answer came. Asking changes nothing: ask again later.';
    throw error;
  }
}

function objectIn(args: ModelCall['args']): JsonObject {
  const value = typeof args === 'string' ? parsed(args) : args;
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
