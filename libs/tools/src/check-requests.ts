import { checkExpression } from './check-expression.js';
import { checkAddress, checkHeaders, checkSegments, checkTemplate } from './check-text.js';
import { fieldsOf, type TemplateFields, templateMistake } from './placeholders.js';
import { kindOf, type UpstreamKind } from './read-upstream.js';
import type { ToolSource } from './tool-source.js';

/** Checks how the call itself is written, for each kind of upstream. */
export function checkRequests(source: ToolSource): void {
  const path = ['upstream', kindOf(source)];
  checks[kindOf(source)](source, path);
}

type Part = readonly string[];

/** Of the streamable HTTP transport (MCP 2025-11-25). */
const ownMcpHeaders = ['accept', 'content-type', 'last-event-id', 'mcp-session-id', 'mcp-protocol-version'];

const checks: Readonly<Record<UpstreamKind, (source: ToolSource, path: Part) => void>> = {
  http: checkHttp,
  mcp: checkMcp,
  process: checkProcess,
  module: checkModule,
};

function checkHttp(source: ToolSource, path: Part): void {
  const fields = fieldsOf(source);
  checkAddress(source, [...path, 'baseUrl'], { isBase: true });
  checkTemplate(source, [...path, 'path'], fields);
  checkSegments(source, [...path, 'path']);
  checkHeaders(source, [...path, 'headers'], fields);
  checkExpression(source, [...path, 'body'], ['args']);
  if (source.text(...path, 'method') === 'GET' && source.text(...path, 'body') !== null) {
    source.report([...path, 'body'], 'a GET has no body; remove it, or use another method');
  }
}

function checkMcp(source: ToolSource, path: Part): void {
  checkExpression(source, [...path, 'arguments'], ['args']);
  checkServer(source, path);
  const url = source.value(...path, 'url') !== undefined;
  if (url === (source.value(...path, 'command') !== undefined)) {
    source.report(path, `has ${url ? 'url and command' : 'neither url nor command'}; must have exactly one of them`);
  }
  const [stray, needed] = url ? ['env', 'command'] : ['headers', 'url'];
  if (source.value(...path, stray) !== undefined) {
    source.report([...path, stray], `means nothing without ${needed}; remove it`);
  }
}

/** Where an MCP server is; the same for the real one and the sandbox. */
export function checkServer(source: ToolSource, path: Part): void {
  checkAddress(source, [...path, 'url'], { isBase: false });
  checkHeaders(source, [...path, 'headers'], null, ownMcpHeaders);
  checkProgram(source, [...path, 'command'], null);
  checkEnv(source, [...path, 'env']);
}

function checkProcess(source: ToolSource, path: Part): void {
  checkProgram(source, [...path, 'argv'], fieldsOf(source));
  checkEnv(source, [...path, 'env']);
  checkExpression(source, [...path, 'input'], ['args']);
}

/** A program with arguments; `fields` is what a call may fill into the arguments, null: nothing. */
export function checkProgram(source: ToolSource, path: Part, fields: TemplateFields | null): void {
  const items = source.value(...path);
  if (!Array.isArray(items)) return;
  for (const [index, item] of items.entries()) {
    const here = [...path, `${index}`];
    if (index === 0 && item === '') source.report(here, 'is empty; must name a program');
    if (index === 0 || fields === null) {
      if (String(item).includes('{{')) source.report(here, 'is the same for every call; must be without {{…}}');
    } else if (String(item).includes('{{')) {
      // Other braces are plain text here, such as those of JSON.
      const mistake = templateMistake(String(item), fields);
      if (mistake) source.report(here, mistake);
      else if (/^\{\{\s*key\s*\}\}/.test(String(item)) && !items.slice(0, index).includes('--')) {
        source.report(here, keyAsOption);
      }
    }
  }
}

/** Keys are base64url, so that one in sixty-four begins with a dash: found here, not in one call of sixty-four. */
const keyAsOption =
  'begins with {{key}}, which may begin with a dash and be taken for an option; write --key={{key}}, or an item `--` before it';

/** The names by which a program learns of its call (docs/tools.md). */
export function checkEnv(source: ToolSource, path: Part): void {
  for (const name of Object.keys(source.object(...path) ?? {})) {
    if (name.startsWith('INTENDANT_')) source.report([...path, name], 'set by the runtime; remove it');
  }
}

export function checkModule(source: ToolSource, path: Part): void {
  const file = source.text(...path, 'file');
  if (file !== null && !/\.m?[jt]s$/.test(file)) {
    source.report([...path, 'file'], 'not a module; must end with .ts, .mts, .js or .mjs');
  }
}
