import type { ToolDefinition } from '@intendant/contracts';
import type { Verdict } from '@intendant/intent';
import type { ValidateOutput } from './adapter.js';
import type { Answer } from './exchange.js';
import { parseBody } from './json-body.js';
import { retryAfterMs } from './retry-after.js';
import { messageOf } from './short-text.js';
import { ruleOf } from './status-table.js';

/**
 * What a complete answer says about its attempt: the status first, and for success the receipt in the body. `detail` is
 * raw; it must not leave before it is redacted and shortened.
 */
export function answerVerdict(tool: ToolDefinition, answer: Answer, validate: ValidateOutput): Verdict {
  const { meaning, transient } = ruleOf(answer.status, tool.upstream.statuses);
  const cause = `http_${answer.status}`;
  switch (meaning) {
    case 'executed':
      return receiptVerdict(tool, answer, validate);
    case 'accepted':
      return { kind: 'accepted', data: acceptedData(answer) };
    case 'unknown':
      return { kind: 'unknown', cause, detail: wordsOf(answer) };
    case 'in_progress':
      return { kind: 'unknown', cause: 'in_progress', detail: wordsOf(answer) };
    case 'not_executed': {
      const wait = transient ? retryAfterMs(answer.headers) : null;
      return { kind: 'not_executed', cause, transient, retryAfterMs: wait, detail: wordsOf(answer) };
    }
  }
}

/** Without a receipt that fits the output schema, a success status proves nothing: bodies get cut without a trace. */
function receiptVerdict(tool: ToolDefinition, answer: Answer, validate: ValidateOutput): Verdict {
  if (!answer.whole) {
    return withoutReceipt(tool, 'response_too_large', `status ${answer.status}, more than ${answer.body.length} bytes`);
  }
  const body = parseBody(answer.body);
  if (!body.ok) return withoutReceipt(tool, 'no_receipt', `status ${answer.status}: ${body.why}: ${wordsOf(answer)}`);
  const problem = validated(() => validate(tool, body.data));
  if (problem === null) return { kind: 'executed', data: body.data };
  return withoutReceipt(tool, 'no_receipt', `status ${answer.status}: ${problem}`);
}

/** For a read there is nothing to find out: the answer is useless and asking again would not change it. */
function withoutReceipt(tool: ToolDefinition, cause: string, detail: string): Verdict {
  return tool.effect === 'read'
    ? { kind: 'not_executed', cause: 'output_invalid', transient: false, retryAfterMs: null, detail }
    : { kind: 'unknown', cause, detail };
}

function validated(validate: () => string | null): string | null {
  try {
    return validate();
  } catch (error) {
    return `the answer could not be checked: ${messageOf(error)}`;
  }
}

function acceptedData(answer: Answer) {
  const body = parseBody(answer.body);
  return answer.whole && body.ok ? body.data : null;
}

/** The upstream's own words, in full: a cut before the redaction could leave a part of a secret. */
function wordsOf(answer: Answer): string {
  return answer.body.toString('utf8');
}
