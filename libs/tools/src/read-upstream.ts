import type { HttpUpstream, LookupDefinition, StatusMeaning } from '@intendant/contracts';
import type { ToolSource } from './tool-source.js';

/** The HTTP upstream of a file that was checked. */
export function readUpstream(source: ToolSource): HttpUpstream {
  const statuses = Object.entries(source.object('upstream', 'statuses') ?? {});
  return {
    kind: 'http',
    baseUrl: source.text('upstream', 'http', 'baseUrl') ?? '',
    method: (source.text('upstream', 'http', 'method') ?? 'POST') as HttpUpstream['method'],
    path: source.text('upstream', 'http', 'path') ?? '/',
    headers: headers(source, 'http'),
    body: source.text('upstream', 'http', 'body'),
    statuses: Object.fromEntries(statuses.map(([status, meaning]) => [Number(status), meaning as StatusMeaning])),
    lookup: source.object('upstream', 'lookup') ? readLookup(source) : null,
  };
}

function readLookup(source: ToolSource): LookupDefinition {
  const absent = source.value('upstream', 'lookup', 'absent');
  return {
    method: (source.text('upstream', 'lookup', 'method') ?? 'GET') as LookupDefinition['method'],
    path: source.text('upstream', 'lookup', 'path') ?? '/',
    headers: headers(source, 'lookup'),
    present: source.text('upstream', 'lookup', 'present') ?? 'false',
    receipt: source.text('upstream', 'lookup', 'receipt'),
    absentStatuses: Array.isArray(absent) ? absent.map(Number) : [],
  };
}

function headers(source: ToolSource, part: 'http' | 'lookup'): Record<string, string> {
  const given = Object.entries(source.object('upstream', part, 'headers') ?? {});
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}
