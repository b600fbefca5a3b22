import type { PreviewDefinition, ToolDefinition, Upstream } from '@intendant/contracts';
import type { Environment, Logger } from '@intendant/runtime';
import type { ToolRegistry } from '@intendant/tools';
import type { CredentialSource } from './credential-provider.js';
import type { CredentialRule } from './credential-rules.js';
import { credentialSource } from './credential-source.js';
import { Egress } from './egress.js';
import { readEgressRules } from './egress-rules.js';
import { moduleMisfits } from './module-loader.js';
import { Upstreams } from './upstreams.js';

/** Where a process may call, and as whom. */
export interface UpstreamConfig {
  readonly egress: Egress;
  readonly credentials: CredentialSource;
}

/** `logger` is told when the file of the credentials changes. @throws ConfigError */
export function readUpstreamConfig(env: Environment, logger?: Logger): UpstreamConfig {
  return { egress: new Egress(readEgressRules(env)), credentials: credentialSource(env, logger) };
}

/** The upstreams of a service. */
export function openUpstreams(config: UpstreamConfig, tools: ToolRegistry): Upstreams {
  return new Upstreams((tool, data) => tools.checkOutput(tool, data), config);
}

/** A field of a tool file, and what is wrong with it. */
export interface Misfit {
  readonly path: readonly string[];
  readonly message: string;
}

/**
 * What in a tool this process could never do: call a host that is not allowed, name a credential that it does not
 * have, send a header that its credential is to send, or call a module that cannot be loaded. For `loadTools`.
 */
export async function misfits(
  { egress, credentials }: UpstreamConfig,
  { upstream, sandbox, approval }: ToolDefinition,
): Promise<Misfit[]> {
  const rules = credentials();
  const check = async (of: Upstream, part: string): Promise<Misfit[]> => {
    const rule = of.credential === null ? undefined : rules.get(of.credential);
    return [
      ...wrongAddress(of, part, egress),
      ...(of.credential !== null && rule === undefined ? [unknownCredential(part, [...rules.keys()])] : []),
      ...(rule === undefined ? [] : wrongHeaders(of, part, rule, approval.preview)),
      ...(of.kind === 'module' ? await moduleMisfits(of, part, approval.preview) : []),
    ];
  };
  const real = await check(upstream, upstream.kind);
  if (sandbox === null) return real;
  // What the sandbox has in common with the real thing was said already.
  const said = new Set(real.map(key));
  return [...real, ...(await check(sandbox, 'sandbox')).filter((misfit) => !said.has(key(misfit)))];
}

function key({ path, message }: Misfit): string {
  return `${path.slice(2).join('.')} ${message}`;
}

function wrongAddress(upstream: Upstream, part: string, egress: Egress): Misfit[] {
  const [text, field] =
    upstream.kind === 'http'
      ? [upstream.baseUrl, 'baseUrl']
      : upstream.kind === 'mcp' && upstream.server.transport === 'http'
        ? [upstream.server.url, 'url']
        : [null, ''];
  if (text === null) return [];
  const { hostname, port, protocol } = new URL(text);
  const message = egress.refusal(hostname, Number(port) || (protocol === 'https:' ? 443 : 80));
  return message === null ? [] : [{ path: ['upstream', part, field], message }];
}

function unknownCredential(part: string, known: readonly string[]): Misfit {
  const right = known.length === 0 ? 'which is not set' : `which has ${known.join(', ')}`;
  return { path: ['upstream', part, 'credential'], message: `not in INTENDANT_CREDENTIALS, ${right}` };
}

function wrongHeaders(
  upstream: Upstream,
  part: string,
  rule: CredentialRule,
  preview: PreviewDefinition | null,
): Misfit[] {
  const own = (rule.kind === 'oauth' ? 'Authorization' : rule.header.name).toLowerCase();
  const asked = preview?.request.kind === 'http' ? preview.request.headers : {};
  const apply = preview?.token?.apply;
  const within = (path: string[], headers: Readonly<Record<string, string>> = {}) =>
    Object.keys(headers).map((name) => ({ path: [...path, name], name }));
  const sets =
    upstream.kind === 'http'
      ? [
          ...within(['upstream', part, 'headers'], upstream.headers),
          ...within(['upstream', 'lookup', 'headers'], upstream.lookup?.headers),
          ...within(['upstream', 'poll', 'headers'], upstream.poll?.headers),
          ...within(['approval', 'preview', 'request', 'headers'], asked),
          ...(apply?.kind === 'header' ? [{ path: ['approval', 'preview', 'apply', 'header'], name: apply.name }] : []),
        ]
      : upstream.kind === 'mcp' && upstream.server.transport === 'http'
        ? within(['upstream', part, 'headers'], upstream.server.headers)
        : [];
  return sets
    .filter(({ name }) => name.toLowerCase() === own)
    .map(({ path }) => ({ path, message: 'set by the credential; remove one of them' }));
}
