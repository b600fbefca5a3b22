import type { HttpUpstream, ToolDefinition } from '@intendant/contracts';
import type { Verdict } from '@intendant/intent';
import { withLocation } from './accepted-location.js';
import type { ValidateOutput } from './adapter.js';
import type { Answer } from './exchange.js';
import type { WireRequest } from './http-request.js';
import { type JsonBody, parseBody } from './json-body.js';
import { type Received, readVerdict } from './read-verdict.js';
import { retryAfterMs } from './retry-after.js';
import { stateChanged } from './state-token.js';
import { isTemporary, ruleOf, type StatusRule } from './status-table.js';
import { type View, viewOf } from './view.js';

/**
 * What a complete HTTP answer says about its attempt. `detail` is raw.
 *
 * @param changedStatuses of a call that carried a state token, which by these is not the current one
 */
export async function answerVerdict(
  tool: ToolDefinition,
  upstream: HttpUpstream,
  wire: WireRequest,
  answer: Answer,
  changedStatuses: readonly number[],
  validate: ValidateOutput,
): Promise<Verdict> {
  const { status } = answer;
  const changed = changedStatuses.includes(status);
  const { meaning, transient } = changed ? refused : ruleOf(status, upstream.statuses);
  const general = { meaning, transient, receipt: null };
  const verdict = await readVerdict(tool, upstream.outcomes, new HttpReceived(answer), general, validate);
  if (changed && verdict.kind === 'not_executed' && verdict.cause === `http_${status}`) {
    const detail = `${stateChanged}: ${verdict.detail}`;
    return { ...verdict, cause: 'state_changed', transient: false, retryAfterMs: null, detail };
  }
  return verdict.kind === 'accepted'
    ? { kind: 'accepted', data: withLocation(verdict.data, answer.headers, wire) }
    : verdict;
}

const refused: StatusRule = { meaning: 'not_executed', transient: false };

/** Decodes nothing that its reader does not ask for: most answers are successes that no rule looks at. */
class HttpReceived implements Received {
  #parsed: JsonBody | null = null;

  constructor(private readonly answer: Answer) {}

  get cause(): string {
    return `http_${this.answer.status}`;
  }

  get words(): string {
    return this.answer.body.toString('utf8');
  }

  get body(): Received['body'] {
    const { whole, body } = this.answer;
    if (!whole) return { ok: false, cause: 'response_too_large', why: `more than ${body.length} bytes` };
    this.#parsed ??= parseBody(body);
    return this.#parsed;
  }

  get view(): View {
    const { body } = this;
    return viewOf(body.ok ? body.data : undefined, { status: this.answer.status, text: this.words });
  }

  get broken(): boolean {
    const type = [this.answer.headers['content-type'] ?? ''].flat().join();
    return !this.body.ok && (!this.answer.whole || /^application\/([\w.-]+\+)?json\b/i.test(type));
  }

  get retryAfterMs(): number | null {
    return retryAfterMs(this.answer.headers);
  }

  get temporary(): boolean {
    return isTemporary(this.answer.status);
  }
}
