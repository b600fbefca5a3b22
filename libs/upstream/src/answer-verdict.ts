import type { HttpUpstream, ToolDefinition } from '@intendant/contracts';
import type { Verdict } from '@intendant/intent';
import type { ValidateOutput } from './adapter.js';
import type { Answer } from './exchange.js';
import { parseBody } from './json-body.js';
import { type Received, readVerdict } from './read-verdict.js';
import { retryAfterMs } from './retry-after.js';
import { ruleOf } from './status-table.js';
import { viewOf } from './view.js';

/** What a complete HTTP answer says about its attempt. `detail` is raw. */
export function answerVerdict(
  tool: ToolDefinition,
  upstream: HttpUpstream,
  answer: Answer,
  validate: ValidateOutput,
): Promise<Verdict> {
  const { meaning, transient } = ruleOf(answer.status, upstream.statuses);
  const general = { meaning, transient, receipt: null };
  return readVerdict(tool, upstream.outcomes, received(answer), general, validate);
}

function received(answer: Answer): Received {
  const { status, headers, whole } = answer;
  const words = answer.body.toString('utf8');
  const parsed = parseBody(answer.body);
  return {
    view: viewOf(whole && parsed.ok ? parsed.data : undefined, { status, text: words }),
    cause: `http_${status}`,
    words,
    body: whole ? parsed : { ok: false, cause: 'response_too_large', why: `more than ${answer.body.length} bytes` },
    retryAfterMs: retryAfterMs(headers),
  };
}
