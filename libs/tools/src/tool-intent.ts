import { longestToolName, Refusal, stepIdPattern, toolNamePattern } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import type { ArgumentProblem } from './argument-problem.js';
import { describeValue, quoteName } from './describe-value.js';
import { appendPointer } from './json-pointer.js';
import { messageText } from './message-text.js';
import { scanJson } from './scan-json.js';
import { nearest } from './suggest.js';
import { isTrustedName } from './trusted-fields.js';

/** What an agent proposes: one call of one tool. Identity and run are not in it; they come from the token. */
export interface ToolIntentMessage {
  readonly tool: string;
  readonly args: JsonObject;
  /** The agent runtime's step, stable over retries; null: the arguments are the identity. */
  readonly stepId: string | null;
  /** Version the caller was written for; null: the present one. */
  readonly toolVersion: number | null;
  readonly sandbox: boolean;
}

interface Field {
  readonly required: boolean;
  readonly expected: string;
  readonly fits: (value: unknown) => boolean;
}

const fields: Readonly<Record<keyof ToolIntentMessage, Field>> = {
  tool: {
    required: true,
    expected: `the name of a tool: lower-case words joined by dots, such as payments.refund.create, ${longestToolName} characters at most`,
    fits: (value) => typeof value === 'string' && value.length <= longestToolName && toolNamePattern.test(value),
  },
  args: { required: true, expected: "an object with the tool's arguments", fits: isObject },
  stepId: {
    required: false,
    expected: 'a string of 1 to 128 printable ASCII characters without spaces',
    fits: (value) => value === null || (typeof value === 'string' && stepIdPattern.test(value)),
  },
  toolVersion: {
    required: false,
    expected: 'a whole number, 1 or more',
    fits: (value) => value === null || (Number.isSafeInteger(value) && Number(value) >= 1),
  },
  sandbox: { required: false, expected: 'true or false', fits: (value) => typeof value === 'boolean' },
};
const fieldNames = Object.keys(fields) as (keyof ToolIntentMessage)[];

/**
 * Reads a ToolIntent from the bytes of a message, or from a value that was parsed already (where repeated names can
 * no longer be seen).
 *
 * @throws Refusal `invalid_message`, with every problem in `details.problems`.
 */
export function readToolIntent(payload: Uint8Array | unknown): ToolIntentMessage {
  const text = messageText(payload);
  if (typeof text !== 'string') throw refusal([text]);
  const scan = scanJson(text);
  if (scan.tooDeep) throw refusal(scan.problems);
  const message = parse(text);
  const problems = [...scan.problems, ...shapeProblems(message)];
  if (problems.length > 0) throw refusal(problems);
  const { tool, args, stepId = null, toolVersion = null, sandbox = false } = message as ToolIntentMessage;
  return { tool, args, stepId, toolVersion, sandbox };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : 'unreadable';
    throw refusal([{ pointer: '', expected: 'JSON', got: `text that is none (${reason})` }]);
  }
}

function shapeProblems(message: unknown): ArgumentProblem[] {
  if (!isObject(message)) return [{ pointer: '', expected: 'a JSON object', got: describeValue(message) }];
  const problems: ArgumentProblem[] = [];
  for (const name of fieldNames) {
    const { required, expected, fits } = fields[name];
    const value = Object.hasOwn(message, name) ? message[name] : undefined;
    if (value === undefined ? required : !fits(value)) {
      problems.push({ pointer: `/${name}`, expected, got: describeValue(value) });
    }
  }
  for (const name of Object.keys(message)) {
    if (!Object.hasOwn(fields, name)) problems.push(unknownField(name));
  }
  return problems;
}

function unknownField(name: string): ArgumentProblem {
  const near = nearest(name, fieldNames);
  let expected = 'no other fields than the allowed ones';
  if (near) expected = `no field of this name (did you mean ${near}?)`;
  else if (isTrustedName(name)) expected = 'no field of this name: identity, keys and approval come from the run token';
  return { pointer: appendPointer('', name), expected, allowed: fieldNames, got: quoteName(name) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refusal(all: readonly ArgumentProblem[]): Refusal {
  const problems = all.slice(0, 100);
  const [first] = problems;
  const more = all.length > 1 ? ` (and ${all.length - 1} more)` : '';
  const where = first?.pointer ? ` at ${first.pointer.slice(0, 200)}` : '';
  const what = `expected ${first?.expected ?? 'a ToolIntent'}, got ${first?.got ?? 'something else'}`;
  return new Refusal(
    'invalid_message',
    `The message is not a ToolIntent${where}: ${what}${more}. Nothing was recorded; correct it and send it again.`,
    { problems },
  );
}
