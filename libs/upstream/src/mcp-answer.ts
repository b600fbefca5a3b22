import type { McpUpstream, ToolDefinition } from '@intendant/contracts';
import type { Json, Verdict } from '@intendant/intent';
import type { ValidateOutput } from './adapter.js';
import { failureVerdict, notExecuted } from './failure-verdict.js';
import { type JsonBody, parseBody } from './json-body.js';
import type { McpResult } from './mcp-exchange.js';
import { type Received, readVerdict } from './read-verdict.js';
import { retryAfterMs } from './retry-after.js';
import { messageOf } from './short-text.js';
import { ruleOf } from './status-table.js';
import { type Meaning, viewOf } from './view.js';

/** Codes of JSON-RPC 2.0 by which a server says that it did not even begin: parse error to method not found. */
const refusals = new Set([-32700, -32600, -32601]);
/**
 * Invalid params. The official server library says the same when the tool has run and its result does not fit the
 * tool's output schema (docs/decisions/0018).
 */
const invalidParams = -32602;
const internalError = -32603;
/** What servers on the official SDKs call a session they do not know, beside a status of 404 or 400. */
const sessionErrors = new Set([-32000, -32001]);

/** A `CallToolResult` (MCP, server features, tools), as far as it can be relied upon. */
export interface ToolResult {
  readonly isError: boolean;
  /** What it is said to mean for a program; else the JSON in its only text; else its content. */
  readonly data: Received['body'];
  /** Its texts, one per line. */
  readonly text: string;
  /** Not a result yet: a task that goes on, or a question to somebody. */
  readonly unfinished: 'task' | 'input_required' | null;
}

/** What the outcome of a call says about its attempt. `detail` is raw. */
export async function mcpVerdict(
  tool: ToolDefinition,
  { outcomes, poll }: Pick<McpUpstream, 'outcomes' | 'poll'>,
  result: McpResult,
  validate: ValidateOutput,
): Promise<Verdict> {
  const read = ({ received, general }: Reading) => readVerdict(tool, outcomes, received, general, validate);
  switch (result.kind) {
    case 'result':
      return read(ofResult(tool, readToolResult(result.result), poll !== null));
    case 'error':
      return read(ofError(tool, result));
    case 'status':
      return read(ofStatus(tool, result, poll !== null));
    case 'useless':
      return useless(tool, result);
    case 'no_session':
      return unsent(notExecuted(result.error.reason, result.error.transient, result.error.message));
    case 'refused':
      return unsent(failureVerdict(result));
    default:
      return result.sent ? failureVerdict(result) : unsent(failureVerdict(result));
  }
}

/** For a read there is nothing to find out where the answer was complete: asking again would bring the same. */
function useless(tool: ToolDefinition, { cause, detail }: Extract<McpResult, { kind: 'useless' }>): Verdict {
  const complete = cause === 'response_too_large' || cause === 'bad_response';
  return complete && tool.effect === 'read'
    ? { kind: 'not_executed', cause: 'output_invalid', transient: false, retryAfterMs: null, detail }
    : { kind: 'unknown', cause, detail };
}

interface Reading {
  readonly received: Received;
  readonly general: Meaning;
}

function ofResult(tool: ToolDefinition, result: ToolResult, canPoll: boolean): Reading {
  const { isError, data, text, unfinished } = result;
  const words = text !== '' || !data.ok ? text : JSON.stringify(data.data);
  const received = {
    view: viewOf(data.ok ? data.data : undefined, { isError, text, code: null, status: null }),
    words,
    body: data,
  };
  if (unfinished !== null) {
    return {
      received: { ...received, cause: `mcp_${unfinished}` },
      general: meaning(canPoll ? 'accepted' : 'unknown'),
    };
  }
  if (!isError) return { received: { ...received, cause: 'mcp_result' }, general: meaning('executed') };
  // The tool ran, and what it did before it failed only the tool file can know. A read has done nothing.
  return {
    received: { ...received, cause: 'mcp_error' },
    general: meaning(tool.effect === 'read' ? 'not_executed' : 'unknown'),
  };
}

function ofError(tool: ToolDefinition, { code, message, data }: Extract<McpResult, { kind: 'error' }>): Reading {
  const body = plain(data ?? null);
  const words = data === undefined ? message : `${message} ${body.ok ? JSON.stringify(body.data) : ''}`;
  return {
    received: {
      view: viewOf(body.ok ? body.data : null, { isError: true, text: message, code, status: null }),
      cause: `rpc_${code}`,
      words,
      body,
    },
    general: meaning(
      refusals.has(code) || (code === invalidParams && tool.effect === 'read') ? 'not_executed' : 'unknown',
    ),
  };
}

function ofStatus(
  tool: ToolDefinition,
  { answer, inSession }: Extract<McpResult, { kind: 'status' }>,
  canPoll: boolean,
): Reading {
  const { status, whole } = answer;
  const words = answer.body.toString('utf8');
  const parsed = parseBody(answer.body);
  const code = parsed.ok ? rpcCode(parsed.data) : null;
  return {
    received: {
      view: viewOf(whole && parsed.ok ? parsed.data : undefined, { isError: true, text: words, code, status }),
      cause: `http_${status}`,
      words,
      body: whole ? parsed : { ok: false, cause: 'response_too_large', why: `more than ${answer.body.length} bytes` },
      retryAfterMs: retryAfterMs(answer.headers),
    },
    general:
      code === invalidParams && tool.effect !== 'read'
        ? meaning('unknown')
        : statusMeaning(status, code, inSession, canPoll),
  };
}

function statusMeaning(status: number, code: number | null, inSession: boolean, canPoll: boolean): Meaning {
  // A 202 belongs to notifications; for a call it can only mean that it was taken on.
  if (status === 202) return meaning(canPoll ? 'accepted' : 'unknown');
  // Success is a JSON-RPC response, and there was none.
  if (status < 300 || code === internalError) return meaning('unknown');
  const rule = ruleOf(status, {});
  // The next call makes a new session.
  const expired = inSession && (status === 404 || (status === 400 && code !== null && sessionErrors.has(code)));
  return { meaning: rule.meaning, transient: rule.transient || expired, receipt: null };
}

/** Reads the `result` of a `tools/call`, of whatever revision. */
export function readToolResult(result: unknown): ToolResult {
  const { isError, structuredContent, content, resultType, task } = isObject(result) ? result : {};
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  const texts = blocks.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  const shared = { isError: isError === true, text: texts.join('\n') };
  if (isObject(task)) return { ...shared, data: plain(result), unfinished: 'task' };
  if (resultType === 'input_required') return { ...shared, data: plain(result), unfinished: 'input_required' };
  const unfinished = null;
  if (structuredContent !== undefined) return { ...shared, data: plain(structuredContent), unfinished };
  if (!Array.isArray(content)) {
    return { ...shared, data: { ok: false, cause: 'bad_response', why: 'it has no content' }, unfinished };
  }
  const [only] = texts;
  if (only !== undefined && blocks.length === 1 && only !== '') {
    const parsed = parseBody(Buffer.from(only));
    if (parsed.ok) return { ...shared, data: parsed, unfinished };
  }
  return { ...shared, data: plain({ content }), unfinished };
}

/** The same bounds for what came inside a message as for a message of its own. */
function plain(value: unknown): JsonBody {
  try {
    return parseBody(Buffer.from(JSON.stringify(value)));
  } catch (error) {
    return { ok: false, why: messageOf(error) };
  }
}

function rpcCode(body: Json): number | null {
  const error = isObject(body) ? body['error'] : null;
  return isObject(error) && typeof error['code'] === 'number' ? error['code'] : null;
}

function meaning(kind: Meaning['meaning']): Meaning {
  return { meaning: kind, transient: false, receipt: null };
}

/** No byte of the call left, whatever was said before it. */
export function unsent(verdict: Verdict): Verdict {
  return verdict.kind === 'not_executed' ? { ...verdict, sent: false } : verdict;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
