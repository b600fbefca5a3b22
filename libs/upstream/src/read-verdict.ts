import type { OutcomeRule, ToolDefinition } from '@intendant/contracts';
import type { Json, Verdict } from '@intendant/intent';
import type { ValidateOutput } from './adapter.js';
import { messageOf } from './short-text.js';
import { evaluateOn, type Meaning, ruled, type View } from './view.js';

/** A complete answer of an upstream of any kind. */
export interface Received {
  readonly view: View;
  /** Short machine word, such as http_502 or exit_3. */
  readonly cause: string;
  /** What it said, in full: a cut before the redaction could leave a part of a secret. */
  readonly words: string;
  /** The answer as data, or why it is none. */
  readonly body:
    | { readonly ok: true; readonly data: Json }
    | { readonly ok: false; readonly cause?: string; readonly why: string };
  readonly retryAfterMs?: number | null;
}

/**
 * What a complete answer says about its attempt: the tool's own rules first, then the general reading of its kind;
 * for success, the receipt. `detail` is raw; it must not leave before it is redacted and shortened.
 */
export async function readVerdict(
  tool: ToolDefinition,
  rules: readonly OutcomeRule[],
  received: Received,
  general: Meaning,
  validate: ValidateOutput,
): Promise<Verdict> {
  const { cause, words, view } = received;
  let meaning = general;
  if (rules.length > 0) {
    try {
      const rule = await ruled(rules, view);
      if (rule !== null) meaning = { meaning: rule.means, transient: false, receipt: rule.receipt };
    } catch (error) {
      return { kind: 'unknown', cause: 'outcome_rule_failed', detail: `${messageOf(error)}: ${words}` };
    }
  }
  switch (meaning.meaning) {
    case 'executed':
      return receiptVerdict(tool, received, meaning.receipt, validate);
    case 'accepted':
      return { kind: 'accepted', data: received.body.ok ? received.body.data : null };
    case 'unknown':
      return { kind: 'unknown', cause, detail: words };
    case 'in_progress':
      return { kind: 'unknown', cause: 'in_progress', detail: words };
    case 'not_executed': {
      const retryAfterMs = meaning.transient ? (received.retryAfterMs ?? null) : null;
      return { kind: 'not_executed', cause, transient: meaning.transient, retryAfterMs, detail: words };
    }
  }
}

/** Without a receipt that fits the output schema, success proves nothing: bodies get cut without a trace. */
async function receiptVerdict(
  tool: ToolDefinition,
  { body, cause, words, view }: Received,
  expression: string | null,
  validate: ValidateOutput,
): Promise<Verdict> {
  if (!body.ok) return withoutReceipt(tool, body.cause ?? 'no_receipt', `${cause}: ${body.why}: ${words}`);
  let receipt: Json | undefined = body.data;
  try {
    if (expression !== null) receipt = await evaluateOn(view, expression);
  } catch (error) {
    return withoutReceipt(tool, 'no_receipt', `${cause}: the receipt expression failed: ${messageOf(error)}`);
  }
  if (receipt === undefined) return withoutReceipt(tool, 'no_receipt', `${cause}: "receipt" selects nothing: ${words}`);
  const problem = checked(tool, receipt, validate);
  return problem === null
    ? { kind: 'executed', data: receipt }
    : withoutReceipt(tool, 'no_receipt', `${cause}: ${problem}`);
}

/** For a read there is nothing to find out: the answer is useless and asking again would not change it. */
function withoutReceipt(tool: ToolDefinition, cause: string, detail: string): Verdict {
  return tool.effect === 'read'
    ? { kind: 'not_executed', cause: 'output_invalid', transient: false, retryAfterMs: null, detail }
    : { kind: 'unknown', cause, detail };
}

/** Null when `data` is the output that the tool declares; a check that fails is no proof. */
export function checked(tool: ToolDefinition, data: Json, validate: ValidateOutput): string | null {
  try {
    return validate(tool, data);
  } catch (error) {
    return `the answer could not be checked: ${messageOf(error)}`;
  }
}
