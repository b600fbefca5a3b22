import { type ErrorObject, errorObject } from '@intendant/contracts';
import {
  PROTOCOL_VERSION_META_KEY,
  ProtocolErrorCode,
  type RequestId,
  specTypeSchemas,
} from '@modelcontextprotocol/server';

const schemas = {
  initialize: specTypeSchemas.InitializeRequest,
  'tools/list': specTypeSchemas.ListToolsRequest,
  'tools/call': specTypeSchemas.CallToolRequest,
} as const;

export interface WrongParams {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly error: { code: number; message: string; data: { error: ErrorObject } };
}

/**
 * The answer to a request whose parameters have the wrong shape; null: they are right, or it is none that can be answered so.
 * The SDK would answer with the issues of its validator as text, or as an error of its own.
 */
export function checkParams(message: unknown): WrongParams | null {
  if (typeof message !== 'object' || message === null) return null;
  const { jsonrpc, id, method, params = {} } = message as Record<string, unknown>;
  if (jsonrpc !== '2.0' || !(typeof id === 'string' || Number.isInteger(id))) return null;
  // What is no JSON-RPC at all is refused by the SDK.
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return null;
  // 2026-07-28 has no greeting: to the SDK it is a method that is not there.
  const { _meta: meta } = params as { _meta?: unknown };
  const isModern = typeof meta === 'object' && meta !== null && PROTOCOL_VERSION_META_KEY in meta;
  if (!isChecked(method) || (method === 'initialize' && isModern)) return null;
  const found = schemas[method]['~standard'].validate({ method, params });
  if (found instanceof Promise || found.issues === undefined) return null;
  const problems = found.issues.map(({ path = [], message: text }) => ({
    pointer: path.map((step) => `/${String(typeof step === 'object' ? step.key : step).slice(0, 100)}`).join(''),
    expected: inWords(text),
  }));
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  const [first] = problems;
  const said = `${first?.pointer}: ${first?.expected}${more}.`;
  const error = errorObject('invalid_message', said, { problems });
  return {
    jsonrpc,
    id: id as RequestId,
    error: { code: ProtocolErrorCode.InvalidParams, message: said, data: { error } },
  };
}

function isChecked(method: unknown): method is keyof typeof schemas {
  return typeof method === 'string' && Object.hasOwn(schemas, method);
}

const kinds: Readonly<Record<string, string>> = {
  ...{ string: 'a string', number: 'a number', boolean: 'true or false' },
  ...{ object: 'an object', record: 'an object', array: 'a list', undefined: 'nothing', null: 'null' },
};

/** The validator's `Invalid input: expected record, received array`. */
function inWords(text: string): string {
  const [, expected = '', got = ''] = /^Invalid input: expected (\w+), received (\w+)$/.exec(text) ?? [];
  if (expected === '') return text.replace(/^Invalid input/, 'not as the protocol says');
  return `expected ${kinds[expected] ?? expected}, got ${kinds[got] ?? got}`;
}
