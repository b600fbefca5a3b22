import { IntendantError } from './errors.js';
import type { Run } from './run.js';
import { textFor, textForPage } from './text-for.js';
import type { Json, JsonObject, Tool } from './wire.js';

/** The longest that a model may wait for an outcome, in seconds. */
const longestWaitS = 30;

const read = { version: 1, effect: 'read', reversible: null, outputSchema: null } as const;
const text = (description: string): JsonObject => ({ type: 'string', description });

/** How an earlier call stands. */
export const getIntent: Tool = {
  ...read,
  name: 'intendant.intent.get',
  description:
    'How an earlier call of this run stands, or its outcome after waiting for it. Use it for what got no answer, was still being worked on, waited for a person or had an unknown outcome; it sends nothing.',
  inputSchema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      intentId: text('The intent that an earlier answer names.'),
      stepId: text('The step that an earlier answer names, where it names no intent.'),
      wait: {
        ...{ type: 'integer', minimum: 0, maximum: longestWaitS },
        description: 'Seconds to wait for an outcome; 0 without it.',
      },
    },
  },
};

/** Reads what an earlier call answered where it was not all shown. */
export const getResult: Tool = {
  ...read,
  name: 'intendant.result.get',
  description:
    'A part of what an earlier call of this run answered, by the handle in its text. Use it where not all of an answer was shown; it calls no tool.',
  inputSchema: {
    type: 'object',
    additionalProperties: false,
    required: ['handle'],
    properties: {
      handle: text('The handle that the text names.'),
      pointer: text('JSON Pointer into the data, such as /items/17; without it the list of the tool, or all of it.'),
      cursor: text('The cursor that the page before names.'),
      limit: { type: 'integer', minimum: 1, description: 'Items of a list or members of an object at most.' },
    },
  },
};

/** What a model needs beside the tools of its run: to ask about a call, and to read a large answer. They change nothing. */
export const ownTools: readonly Tool[] = [getIntent, getResult];

/** What own tools read. */
export type Readable = Pick<Run, 'intent' | 'step' | 'result'>;

/**
 * Answers a call of one of them; null: of none.
 *
 * @throws IntendantError, NoOutcomeYet, NoAnswer
 */
export async function ownAnswer(
  run: Readable,
  tool: string,
  args: { readonly [name: string]: Json | undefined },
  signal: AbortSignal | undefined,
): Promise<string | null> {
  if (tool === getIntent.name) return aboutIntent(run, args, signal);
  if (tool !== getResult.name) return null;
  const { handle, pointer, cursor, limit } = args;
  const page = await run.result(textOr('', handle), {
    ...{ pointer: textOr(undefined, pointer), cursor: textOr(undefined, cursor), signal },
    limit: typeof limit === 'number' ? limit : undefined,
  });
  return textForPage(page);
}

async function aboutIntent(
  run: Readable,
  { intentId, stepId, wait }: { readonly [name: string]: Json | undefined },
  signal: AbortSignal | undefined,
): Promise<string> {
  if (typeof intentId === 'string') {
    const seconds = typeof wait === 'number' ? Math.min(Math.max(wait, 0), longestWaitS) : 0;
    return textFor(await run.intent(intentId, { wait: seconds * 1_000, ...(signal && { signal }) }));
  }
  if (typeof stepId !== 'string') throw wrong('Name the intent or the step to ask about: intentId or stepId.');
  const found = await run.step(stepId);
  if (found.length > 0) return found.map(textFor).join('\n');
  return `Nothing is recorded as step ${stepId} so far, but it may still be on its way. Do not make the call again; ask again later, or say that its outcome is not known.`;
}

function textOr<T>(otherwise: T, value: Json | undefined): string | T {
  return typeof value === 'string' ? value : otherwise;
}

function wrong(message: string): IntendantError {
  const kind = { code: 'invalid_arguments', category: 'validation', nextAction: 'fix_arguments' } as const;
  return new IntendantError(422, { ...kind, message, retryable: false, details: {} });
}
