import type { LookupDefinition, ToolDefinition } from '@intendant/contracts';
import type { Json, LookupAnswer } from '@intendant/intent';
import type { ValidateOutput } from './adapter.js';
import type { Answer } from './exchange.js';
import { evaluate } from './expression.js';
import { parseBody } from './json-body.js';

/**
 * Reads the upstream's answer to "did it happen?". Only two things count as absence: a 200 for which `present` is
 * false, and a status that the tool file declares. No other status does, not even a 404: a proxy that has lost its
 * backend says the same.
 *
 * Expressions see the fields of the body at the root, plus `data` (the body) and `status` where the body has no such
 * field, and always `$data` and `$status`.
 *
 * @throws MappingError when an expression fails
 */
export async function lookupAnswer(
  tool: ToolDefinition,
  lookup: LookupDefinition,
  answer: Answer,
  validate: ValidateOutput,
): Promise<LookupAnswer> {
  if (lookup.absentStatuses.includes(answer.status)) return { kind: 'absent' };
  if (answer.status !== 200) return cannotTell(`the lookup answered ${answer.status}`);
  if (!answer.whole) return cannotTell("the lookup's answer is too large");
  const body = parseBody(answer.body);
  if (!body.ok || answer.body.length === 0) return cannotTell("the lookup's answer is not JSON");

  const root = rootOf(body.data, answer.status);
  const bindings = { data: body.data, status: answer.status };
  const present = await evaluate(lookup.present, root, bindings);
  if (present === false) return { kind: 'absent' };
  if (present !== true) return cannotTell('"present" is neither true nor false for this answer');

  const receipt = lookup.receipt === null ? body.data : await evaluate(lookup.receipt, root, bindings);
  if (receipt === undefined) return cannotTell('present, but "receipt" selects nothing');
  const problem = validate(tool, receipt);
  return problem === null
    ? { kind: 'present', data: receipt }
    : cannotTell(`present, but the receipt is wrong: ${problem}`);
}

export function cannotTell(detail: string): LookupAnswer {
  return { kind: 'cannot_tell', detail };
}

function rootOf(data: Json, status: number): object {
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
  return isObject ? { data, status, ...data } : { data, status };
}
