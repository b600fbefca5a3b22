import type { PreviewDefinition, ToolDefinition } from '@intendant/contracts';
import type { Json, JsonObject, LookupAnswer, PollAnswer } from '@intendant/intent';
import type { PreviewAnswer, ValidateOutput } from './adapter.js';
import {
  type CannotTell,
  type Done,
  type Failed,
  type Partly,
  type Pending,
  type Present,
  sortOf,
} from './define-tool.js';
import type { Settled } from './module-run.js';
import { plainJson } from './plain-json.js';
import { cannotTell, pending } from './read-lookup.js';
import { previewFailed, readPreview } from './read-preview.js';
import { checked } from './read-verdict.js';
import { messageOf } from './short-text.js';
import { viewOf } from './view.js';

/** What `lookup` of a module says; anything but an answer made by its functions cannot tell. */
export function lookupAnswer(
  tool: ToolDefinition,
  settled: Settled,
  maxBytes: number,
  validate: ValidateOutput,
): LookupAnswer {
  if (settled.kind !== 'returned') return cannotTell(whyNot('lookup', settled));
  const { value } = settled;
  switch (sortOf(value)) {
    case 'absent':
      return { kind: 'absent' };
    case 'cannot_tell':
      return cannotTell(String((value as CannotTell).reason));
    case 'partial': {
      const { receipt, reason } = value as Partly<unknown>;
      const data = plainJson(receipt, maxBytes);
      return data.ok ? { kind: 'partial', data: data.data, detail: String(reason) } : cannotTell(data.why);
    }
    case 'present': {
      const { receipt, excess } = value as Present<unknown>;
      const read = receiptOf(tool, receipt, maxBytes, validate);
      if (typeof read === 'string') return cannotTell(`present, but ${read}`);
      if (!Number.isInteger(excess) || excess < 0) return cannotTell('present, but `excess` is not a whole number');
      return { kind: 'present', data: read.data, ...(excess === 0 ? {} : { excess }) };
    }
    default:
      return cannotTell('`lookup` answered nothing that it can answer');
  }
}

/** What `poll` of a module says; anything but an answer made by its functions leaves the request pending. */
export function pollAnswer(
  tool: ToolDefinition,
  settled: Settled,
  maxBytes: number,
  validate: ValidateOutput,
): PollAnswer {
  if (settled.kind !== 'returned') return pending(whyNot('poll', settled));
  const { value } = settled;
  switch (sortOf(value)) {
    case 'pending':
      return pending(String((value as Pending).reason));
    case 'failed':
      return { kind: 'failed', detail: String((value as Failed).reason) };
    case 'done': {
      const read = receiptOf(tool, (value as Done<unknown>).receipt, maxBytes, validate);
      return typeof read === 'string' ? pending(`done, but ${read}`) : { kind: 'executed', data: read.data };
    }
    default:
      return pending('`poll` answered nothing that it can answer');
  }
}

/** What `preview` of a module says, read as the tool file says. */
export function modulePreview(
  tool: ToolDefinition,
  definition: PreviewDefinition,
  settled: Settled,
  maxBytes: number,
  args: JsonObject,
): Promise<PreviewAnswer> | PreviewAnswer {
  if (settled.kind !== 'returned') return previewFailed('no_answer', whyNot('preview', settled));
  const answer = plainJson(settled.value, maxBytes);
  return answer.ok
    ? readPreview(tool, definition, viewOf(answer.data, {}), args)
    : previewFailed('preview_unreadable', `the preview of ${tool.name}: ${answer.why}`);
}

/** The receipt as JSON, or what is wrong with it. */
function receiptOf(
  tool: ToolDefinition,
  receipt: unknown,
  maxBytes: number,
  validate: ValidateOutput,
): { readonly data: Json } | string {
  const copy = plainJson(receipt, maxBytes);
  if (!copy.ok) return copy.why;
  const problem = checked(tool, copy.data, validate);
  return problem === null ? { data: copy.data } : `the receipt is wrong: ${problem}`;
}

function whyNot(name: string, settled: Exclude<Settled, { kind: 'returned' }>): string {
  switch (settled.kind) {
    case 'threw':
      return `\`${name}\` failed: ${messageOf(settled.error)}`;
    case 'timeout':
      return `\`${name}\` did not answer in time`;
    case 'aborted':
      return `\`${name}\` was given up`;
  }
}
