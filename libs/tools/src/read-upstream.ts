import { dirname, resolve } from 'node:path';
import type {
  Argv,
  HttpPoll,
  HttpUpstream,
  LookupDefinition,
  LookupReading,
  McpCall,
  McpUpstream,
  ModuleUpstream,
  OutcomeRule,
  PollReading,
  ProcessUpstream,
  StatusMeaning,
  Upstream,
} from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import { isObject, type ToolSource } from './tool-source.js';

export const kinds = ['http', 'mcp', 'process', 'module'] as const;
export type UpstreamKind = (typeof kinds)[number];

/** The first kind that the file names; a checked file names exactly one. */
export function kindOf(source: ToolSource): UpstreamKind {
  return kinds.find((kind) => source.object('upstream', kind) !== null) ?? 'http';
}

/** Where the tool is, from a file that was checked. */
export function readUpstream(source: ToolSource): Upstream {
  return read(source, {});
}

/** The same for sandbox calls: what the file says differs there replaces the real thing. Null without a sandbox. */
export function readSandbox(source: ToolSource): Upstream | null {
  const changes = source.object('upstream', 'sandbox');
  if (changes === null) return null;
  const upstream = read(source, changes);
  // What happens to the sandbox must not open the circuit of the real thing, nor take its slots, even where a
  // credential is all that differs.
  return { ...upstream, name: `${upstream.name} (sandbox)` };
}

function read(source: ToolSource, changes: JsonObject): Upstream {
  const kind = kindOf(source);
  const fields: JsonObject = { ...source.object('upstream', kind), ...changes };
  switch (kind) {
    case 'http':
      return readHttp(source, fields);
    case 'mcp':
      return readMcp(source, fields);
    case 'process':
      return readProcess(source, fields);
    case 'module':
      return readModule(source, fields);
  }
}

/** `address` is the name where the file gives none. It gets into texts and metrics, so it is without arguments. */
function shared(source: ToolSource, fields: JsonObject, address: string) {
  const concurrency = source.value('upstream', 'concurrency');
  const outcomes = source.value('upstream', 'outcomes');
  return {
    name: source.text('upstream', 'name') ?? address,
    concurrency: typeof concurrency === 'number' ? concurrency : 64,
    outcomes: Array.isArray(outcomes) ? outcomes.filter(isObject).map(readOutcome) : [],
    credential: textOr(fields['credential'], null),
  };
}

function readOutcome(rule: JsonObject): OutcomeRule {
  return {
    when: String(rule['when']),
    means: rule['means'] as StatusMeaning,
    receipt: textOr(rule['receipt'], null),
  };
}

function readHttp(source: ToolSource, fields: JsonObject): HttpUpstream {
  const baseUrl = textOr(fields['baseUrl'], '');
  return {
    kind: 'http',
    ...shared(source, fields, URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl),
    baseUrl,
    method: textOr(fields['method'], 'POST') as HttpUpstream['method'],
    path: textOr(fields['path'], '/'),
    headers: texts(fields['headers']),
    body: textOr(fields['body'], null),
    http2: fields['http2'] === true,
    statuses: meanings(source.object('upstream', 'statuses')),
    lookup: source.object('upstream', 'lookup') ? { ...readLookupReading(source), ...readHttpLookup(source) } : null,
    poll: source.object('upstream', 'poll')
      ? { ...readPollReading(source), ...readHttpQuestion(source, 'poll') }
      : null,
  };
}

function readMcp(source: ToolSource, fields: JsonObject): McpUpstream {
  const url = textOr(fields['url'], null);
  const command = list(fields['command']);
  return {
    kind: 'mcp',
    ...shared(source, fields, url === null ? `mcp ${command[0]}` : URL.canParse(url) ? new URL(url).host : url),
    server:
      url === null
        ? { transport: 'stdio', command, env: texts(fields['env']) }
        : { transport: 'http', url, headers: texts(fields['headers']) },
    ...readMcpCall(fields),
    lookup: source.object('upstream', 'lookup')
      ? { ...readLookupReading(source), ...readMcpCall(source.object('upstream', 'lookup') ?? {}) }
      : null,
    poll: source.object('upstream', 'poll')
      ? { ...readPollReading(source), ...readMcpCall(source.object('upstream', 'poll') ?? {}) }
      : null,
  };
}

function readProcess(source: ToolSource, fields: JsonObject): ProcessUpstream {
  const argv = list(fields['argv']) as unknown as Argv;
  const maxOutput = fields['maxOutput'];
  return {
    kind: 'process',
    ...shared(source, fields, `process ${argv[0]}`),
    argv,
    cwd: resolve(dirname(source.file), textOr(fields['cwd'], '.')),
    env: texts(fields['env']),
    input: textOr(fields['input'], '$args'),
    maxOutputBytes: typeof maxOutput === 'number' ? maxOutput : 1024 * 1024,
    exits: meanings(isObject(fields['exits']) ? fields['exits'] : null),
    lookup: source.object('upstream', 'lookup')
      ? { ...readLookupReading(source), argv: argvOf(source, 'lookup'), absentExits: absentStatuses(source) }
      : null,
    poll: source.object('upstream', 'poll') ? { ...readPollReading(source), argv: argvOf(source, 'poll') } : null,
  };
}

function readModule(source: ToolSource, fields: JsonObject): ModuleUpstream {
  const path = resolve(dirname(source.file), textOr(fields['file'], ''));
  return {
    kind: 'module',
    ...shared(source, fields, `module ${path}`),
    path,
    lookup: source.object('upstream', 'lookup') ? {} : null,
    poll: source.object('upstream', 'poll') ? {} : null,
  };
}

function readLookupReading(source: ToolSource): LookupReading {
  return {
    present: source.text('upstream', 'lookup', 'present') ?? 'false',
    receipt: source.text('upstream', 'lookup', 'receipt'),
    count: source.text('upstream', 'lookup', 'count'),
    parts: source.text('upstream', 'lookup', 'parts'),
  };
}

function readPollReading(source: ToolSource): PollReading {
  return {
    executed: source.text('upstream', 'poll', 'executed') ?? 'false',
    failed: source.text('upstream', 'poll', 'failed') ?? 'false',
    receipt: source.text('upstream', 'poll', 'receipt'),
  };
}

function readHttpLookup(source: ToolSource): Omit<LookupDefinition, keyof LookupReading> {
  return { ...readHttpQuestion(source, 'lookup'), absentStatuses: absentStatuses(source) };
}

function readHttpQuestion(source: ToolSource, part: 'lookup' | 'poll'): Omit<HttpPoll, keyof PollReading> {
  return {
    method: (source.text('upstream', part, 'method') ?? 'GET') as HttpPoll['method'],
    path: source.text('upstream', part, 'path') ?? '/',
    headers: texts(source.value('upstream', part, 'headers')),
  };
}

function readMcpCall(fields: JsonObject): McpCall {
  return { tool: textOr(fields['tool'], ''), arguments: textOr(fields['arguments'], '$args') };
}

function absentStatuses(source: ToolSource): number[] {
  const absent = source.value('upstream', 'lookup', 'absent');
  return Array.isArray(absent) ? absent.map(Number) : [];
}

function argvOf(source: ToolSource, part: 'lookup' | 'poll'): Argv {
  return list(source.value('upstream', part, 'argv')) as unknown as Argv;
}

function meanings(given: JsonObject | null): Record<number, StatusMeaning> {
  return Object.fromEntries(
    Object.entries(given ?? {}).map(([status, meaning]) => [Number(status), meaning as StatusMeaning]),
  );
}

function texts(given: unknown): Record<string, string> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return {};
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
}

function list(given: unknown): string[] {
  return Array.isArray(given) ? given.map(String) : [];
}

function textOr<T extends string | null>(value: unknown, fallback: T): string | T {
  return typeof value === 'string' ? value : fallback;
}
