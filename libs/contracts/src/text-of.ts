import { fenced } from './fence.js';

/**
 * What the text of a result is made of. The client brings this file along: what it is made from here, is its own
 * (.dependency-cruiser.cjs, text-for-models-imports-nothing).
 */
export interface Told {
  readonly intentId: string;
  readonly tool: string;
  readonly status: string;
  readonly outcome: 'executed' | 'not_executed' | 'unknown' | 'undecided';
  readonly replayed: boolean;
  readonly sandbox?: true;
  readonly data: unknown;
  readonly summary: string | null;
  readonly handle: string | null;
  readonly error: ToldError | null;
  readonly untrusted?: true;
  readonly corrections?: readonly { readonly finding: string }[];
}

export interface ToldError {
  readonly code: string;
  readonly message: string;
  readonly nextAction: 'fix_arguments' | 'wait' | 'check_outcome' | 'ask_human' | 'choose_other_tool' | 'stop';
  readonly details: object;
}

const known: Readonly<Record<Told['outcome'], string>> = {
  executed: 'it happened',
  not_executed: 'it did not happen',
  unknown: 'it may or may not have happened',
  undecided: 'whether it happens is not known yet',
};

const advice: Readonly<Record<ToldError['nextAction'], string>> = {
  fix_arguments: 'Correct the arguments before you call it again.',
  wait: 'Wait; do not call it again at once.',
  check_outcome: 'Do not call it again; read the intent, or wait for its outcome.',
  ask_human: 'Do not call it again; a person has to look at it.',
  choose_other_tool: 'Choose another tool.',
  stop: 'Do not call it again.',
};

/** Said of an answer that is `replayed`: whoever takes it for a new one believes something that was true then. */
export const replayedNote = 'This is the answer of the same call made earlier; it was not made again.';

/**
 * A result as text for a model: what is known and what to do first, then the data as JSON. What was written outside, in
 * data or in an error, stands between fences that it cannot forge.
 */
export function textOf(result: Told): string {
  const { tool, status, outcome, intentId, replayed, sandbox, data, summary, error, untrusted } = result;
  const notes = [`intent ${intentId}`, ...(sandbox ? ['in the sandbox: nothing real'] : [])];
  const lines = [`${tool}: ${status}, ${known[outcome]} (${notes.join('; ')}).`];
  if (replayed) lines.push(replayedNote);
  if (error) lines.push(...errorLines(error, untrusted === true));
  if (summary !== null) lines.push(summary);
  if (result.handle !== null) lines.push(`Handle: ${result.handle}`);
  if (result.corrections?.length) {
    lines.push(`Found out later: ${result.corrections.map(({ finding }) => finding).join(', ')}.`);
  }
  if (data !== null) lines.push(untrusted ? fenced(JSON.stringify(data)) : JSON.stringify(data));
  return lines.join('\n');
}

/** An error of a request that was not recorded. */
export function textOfError(error: ToldError): string {
  return errorLines(error, false).join('\n');
}

function errorLines({ code, message, nextAction, details }: ToldError, untrusted: boolean): string[] {
  const has = Object.keys(details).length > 0;
  if (!untrusted) return [`Error ${code}: ${message}`, advice[nextAction], ...(has ? [JSON.stringify(details)] : [])];
  // An error repeats what the upstream said, so only the advice is ours for certain.
  return [`Error ${code}. ${advice[nextAction]}`, fenced(JSON.stringify({ message, ...(has && { details }) }))];
}
