import type { OutcomeRule, ToolDefinition } from '@intendant/contracts';
import type { Json, Verdict } from '@intendant/intent';
import type { ValidateOutput } from './adapter.js';
import { messageOf } from './short-text.js';
import { evaluateRule, type Meaning, ruled, type View } from './view.js';

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
  /** True: only a part of what the upstream wrote, or a garbled one. */
  readonly broken?: boolean;
  readonly retryAfterMs?: number | null;
  /** True: what a rule reads as a refusal here may pass by itself. */
  readonly temporary?: boolean;
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
  const { cause } = received;
  let meaning = general;
  if (rules.length > 0) {
    try {
      const rule = await ruled(rules, received.view);
      if (rule !== null) meaning = meaningOf(rule, received);
      // A rule before the one that decided might have held for the whole answer, such as "duplicate, already done".
      if (received.broken && meaning.meaning === 'not_executed') {
        return { kind: 'unknown', cause: 'answer_broken', detail: `${cause}: ${received.words}` };
      }
    } catch (error) {
      return { kind: 'unknown', cause: 'outcome_rule_failed', detail: `${messageOf(error)}: ${received.words}` };
    }
  }
  switch (meaning.meaning) {
    case 'executed':
      return receiptVerdict(tool, received, meaning.receipt, validate);
    case 'accepted':
      return { kind: 'accepted', data: received.body.ok ? received.body.data : null };
    case 'unknown':
      return { kind: 'unknown', cause, detail: received.words };
    case 'in_progress':
      return { kind: 'unknown', cause: 'in_progress', detail: received.words };
    case 'not_executed': {
      const retryAfterMs = meaning.transient ? (received.retryAfterMs ?? null) : null;
      return { kind: 'not_executed', cause, transient: meaning.transient, retryAfterMs, detail: received.words };
    }
  }
}

function meaningOf({ means, receipt }: OutcomeRule, { temporary }: Received): Meaning {
  return { meaning: means, transient: means === 'not_executed' && temporary === true, receipt };
}

/** Without a receipt that fits the output schema, success proves nothing: bodies get cut without a trace. */
async function receiptVerdict(
  tool: ToolDefinition,
  received: Received,
  expression: string | null,
  validate: ValidateOutput,
): Promise<Verdict> {
  const { body, cause } = received;
  const none = (why: string) => withoutReceipt(tool, 'no_receipt', `${cause}: ${why}`);
  let receipt: Json | undefined;
  if (body.ok) receipt = body.data;
  // A rule may find its receipt in a text that is no JSON, but never in a part of a text.
  else if (expression === null || body.cause !== undefined)
    return withoutReceipt(tool, body.cause ?? 'no_receipt', `${cause}: ${body.why}: ${received.words}`);
  try {
    if (expression !== null) receipt = await evaluateRule(received.view, expression);
  } catch (error) {
    return none(`the receipt expression failed: ${messageOf(error)}`);
  }
  if (receipt === undefined) return none(`"receipt" selects nothing: ${received.words}`);
  const problem = checked(tool, receipt, validate);
  return problem === null ? { kind: 'executed', data: receipt } : none(problem);
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
