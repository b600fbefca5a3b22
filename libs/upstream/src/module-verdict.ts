import type { ToolDefinition } from '@intendant/contracts';
import type { Verdict } from '@intendant/intent';
import type { ValidateOutput } from './adapter.js';
import { type Accepted, type Refused, sortOf, type Unknown } from './define-tool.js';
import type { Settled } from './module-run.js';
import { plainJson } from './plain-json.js';
import { readVerdict } from './read-verdict.js';
import { messageOf } from './short-text.js';
import { viewOf } from './view.js';

const success = { meaning: 'executed', transient: false, receipt: null } as const;

/** What `execute` of a module says about its attempt. Whatever it does not say itself is unknown. */
export async function moduleVerdict(
  tool: ToolDefinition,
  settled: Settled,
  maxBytes: number,
  validate: ValidateOutput,
): Promise<Verdict> {
  if (settled.kind === 'timeout') return unknown('call_timeout', `no answer within ${tool.limits.callMs} ms`);
  if (settled.kind === 'aborted') return unknown('aborted', 'given up');
  if (settled.kind === 'threw') {
    return sortOf(settled.error) === 'not_executed'
      ? refused(settled.error as Refused)
      : unknown('threw', messageOf(settled.error));
  }
  const { value } = settled;
  switch (sortOf(value)) {
    case 'not_executed':
      return refused(value as Refused);
    case 'unknown':
      return unknown('module_unknown', String((value as Unknown).reason));
    case 'accepted': {
      const data = plainJson((value as Accepted).data, maxBytes);
      return data.ok ? { kind: 'accepted', data: data.data } : unknown('invalid_answer', data.why);
    }
    case null: {
      const body = plainJson(value, maxBytes);
      return readVerdict(
        tool,
        [],
        { cause: 'returned', words: '', body, view: viewOf(undefined, {}) },
        success,
        validate,
      );
    }
    default:
      return unknown('invalid_answer', `\`execute\` answered ${sortOf(value)}(), which it cannot`);
  }
}

function refused({ reason, transient, retryAfterMs }: Refused): Verdict {
  const waitMs = transient === true && Number.isFinite(retryAfterMs) ? retryAfterMs : null;
  return {
    kind: 'not_executed',
    cause: 'refused',
    transient: transient === true,
    retryAfterMs: waitMs,
    detail: String(reason),
  };
}

function unknown(cause: string, detail: string): Verdict {
  return { kind: 'unknown', cause, detail };
}
