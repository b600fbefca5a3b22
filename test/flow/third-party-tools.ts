import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Where npm puts the programs of the servers, before all else. */
export const programs = `${path.join(root, 'node_modules', '.bin')}${path.delimiter}${process.env.PATH}`;

/** The complete tool file of docs/mcp-upstreams.md. */
export function documentedTool(): string {
  const page = readFileSync(path.join(root, 'docs', 'mcp-upstreams.md'), 'utf8');
  const found = [...page.matchAll(/^```yaml\n(apiVersion: .*?)^```/gms)].map(([, text]) => String(text));
  if (found.length !== 1) throw new Error(`${found.length} complete tool files on the page`);
  return found[0] ?? '';
}

export interface ThirdPartyTool {
  readonly name: string;
  readonly effect: 'read' | 'write';
  /** `url: …` or `command: …`, without braces. */
  readonly server: string;
  readonly tool: string;
  readonly properties?: string;
  readonly output?: string;
  /** Further lines of the file, from the left margin. */
  readonly more?: string;
  /** Further lines of `upstream`, indented by two. */
  readonly upstream?: string;
}

/** A tool file whose arguments are those of the server's tool; nobody knows how to look up what it did. */
export function toolFile(of: ThirdPartyTool): string {
  return `apiVersion: intendant/v1
name: ${of.name}
version: 1
description: Test tool of a server that others wrote.
effect: ${of.effect}
permission: test:use
input: { type: object, additionalProperties: false, properties: { ${of.properties ?? ''} } }
output: ${of.output ?? '{ type: object, required: [content] }'}
${of.more ?? 'limits: { connect: 10s, call: 10s }'}
upstream:
  mcp: { ${of.server}, tool: ${of.tool} }
${of.effect === 'read' ? '' : '  guarantee: none\n'}${of.upstream ?? ''}`;
}
