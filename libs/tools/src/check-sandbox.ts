import type { Json } from '@intendant/intent';
import { checkEnv, checkModule, checkProgram, checkServer } from './check-requests.js';
import { checkAddress, checkHeaders } from './check-text.js';
import { fieldsOf } from './placeholders.js';
import { previewPath } from './read-preview.js';
import { kindOf, type UpstreamKind } from './read-upstream.js';
import type { ToolSource } from './tool-source.js';

/** Per kind: what says where calls go, and what else may differ. */
const fields: Readonly<Record<UpstreamKind, { address: readonly string[]; more: readonly string[] }>> = {
  http: { address: ['baseUrl'], more: ['headers'] },
  mcp: { address: ['url', 'command', 'env'], more: ['headers'] },
  // A program often learns from its environment which system it works on.
  process: { address: ['argv', 'env'], more: [] },
  module: { address: ['file'], more: [] },
};

/** Checks that the sandbox is another place, asked in the same way. */
export function checkSandbox(source: ToolSource): void {
  const path = ['upstream', 'sandbox'];
  const sandbox = source.object(...path);
  if (sandbox === null) return;
  const kind = kindOf(source);
  const known = [...fields[kind].address, ...fields[kind].more, 'credential'];
  for (const name of Object.keys(sandbox)) {
    if (!known.includes(name) && isOfAnotherKind(name)) {
      source.report([...path, name], `means nothing for an upstream of kind ${kind}; known here: ${known.join(', ')}`);
    }
  }
  checkAddress(source, [...path, 'baseUrl'], { isBase: true });
  if (kind === 'http') checkHeaders(source, [...path, 'headers'], fieldsOf(source));
  if (kind === 'mcp') checkServer(source, path);
  if (kind === 'process') checkProgram(source, [...path, 'argv'], fieldsOf(source));
  checkEnv(source, [...path, 'env']);
  checkModule(source, path);
  if (kind === 'mcp') checkSameTransport(source);
  checkIsElsewhere(source, kind);
}

function isOfAnotherKind(name: string): boolean {
  return Object.values(fields).some(({ address, more }) => address.includes(name) || more.includes(name));
}

/** Replacing the one leaves the other in place, so the sandbox would be the real server. */
function checkSameTransport(source: ToolSource): void {
  const [real, other] =
    source.value('upstream', 'mcp', 'url') === undefined
      ? (['command', 'url'] as const)
      : (['url', 'command'] as const);
  const strays = real === 'url' ? ['command', 'env'] : ['url', 'headers'];
  for (const name of strays) {
    if (source.value('upstream', 'sandbox', name) === undefined) continue;
    source.report(
      ['upstream', 'sandbox', name],
      `the real server has ${real}, not ${other}; must be reached in the same way`,
    );
  }
}

const questions = [['upstream', 'lookup'], ['upstream', 'poll'], previewPath];

function checkIsElsewhere(source: ToolSource, kind: UpstreamKind): void {
  const { address } = fields[kind];
  if (![...address, 'credential'].some((name) => differs(source, kind, name))) {
    const right = `must change ${[...address, 'credential'].join(' or ')}`;
    source.report(['upstream', 'sandbox'], `is the real thing under another name; ${right}`);
    return;
  }
  // Questions of a process have programs of their own, which only environment and credential lead elsewhere.
  const asks = questions.some((path) => source.object(...path) !== null);
  if (kind === 'process' && asks && !['env', 'credential'].some((name) => differs(source, kind, name))) {
    source.report(
      ['upstream', 'sandbox', 'argv'],
      'leads only the call to the sandbox, while lookup, poll and preview would ask the real one; must change env or credential, too',
    );
  }
}

/** Compared with the variables filled in: two names for one place are one place. */
function differs(source: ToolSource, kind: UpstreamKind, name: string): boolean {
  const there = source.value('upstream', 'sandbox', name);
  return there !== undefined && placeOf(there) !== placeOf(source.value('upstream', kind, name));
}

function placeOf(value: Json | undefined): string {
  if (typeof value !== 'string' || !URL.canParse(value)) return JSON.stringify(value) ?? '';
  const url = new URL(value);
  // The root of the name system is left out, or written as a dot.
  url.hostname = url.hostname.replace(/\.$/, '');
  return url.href.replace(/\/$/, '');
}
