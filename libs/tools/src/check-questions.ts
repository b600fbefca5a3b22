import type { Json } from '@intendant/intent';
import { checkExpression, expressionNames } from './check-expression.js';
import { checkProgram } from './check-requests.js';
import { checkHeaders, checkSegments, checkTemplate } from './check-text.js';
import { fieldsOf, placeholders } from './placeholders.js';
import { kindOf, type UpstreamKind } from './read-upstream.js';
import { namedByCall, namedByLookup } from './request-names.js';
import type { ToolSource } from './tool-source.js';

/** How a lookup or a poll is asked, per kind of upstream; `needs` comes first among what is allowed. */
const ways: Readonly<Record<UpstreamKind, { needs: readonly string[]; may: readonly string[] }>> = {
  http: { needs: ['path'], may: ['method', 'headers'] },
  mcp: { needs: ['tool'], may: ['arguments'] },
  process: { needs: ['argv'], may: [] },
  module: { needs: [], may: [] },
};
/** How the answer is read; a module reads it itself. */
const readings = {
  lookup: { needs: ['present'], may: ['receipt', 'count', 'parts'] },
  poll: { needs: ['executed', 'failed'], may: ['receipt'] },
} as const;
const always = {
  lookup: ['authoritative', 'lag', 'spacing', 'deadline'],
  poll: ['interval', 'deadline'],
} as const;

/** What an expression about such an answer can name as a variable (libs/upstream, viewOf). */
const variables: Readonly<Record<UpstreamKind, readonly string[]>> = {
  http: ['data', 'status'],
  mcp: ['data', 'isError', 'text'],
  process: ['data', 'exit', 'stderr', 'text'],
  module: [],
};

type Part = 'lookup' | 'poll';

/** Checks how a lookup and a poll are asked and how their answers are read. */
export function checkQuestions(source: ToolSource): void {
  for (const part of ['lookup', 'poll'] as const) {
    if (source.object('upstream', part) === null) continue;
    checkFields(source, part);
    checkWay(source, part);
    checkReading(source, part);
  }
  checkAbsent(source);
  if (source.object('upstream', 'lookup') === null) return;
  checkNamesRequest(source);
  checkIsKnown(source);
}

/** Fields that this kind of upstream would ignore without a word, and those it cannot do without. */
function checkFields(source: ToolSource, part: Part): void {
  const kind = kindOf(source);
  const reading = kind === 'module' ? { needs: [], may: [] } : readings[part];
  const needed = [...ways[kind].needs, ...reading.needs];
  const absent = part === 'lookup' && (kind === 'http' || kind === 'process') ? ['absent'] : [];
  const known = [...needed, ...ways[kind].may, ...reading.may, ...absent, ...always[part]];
  const all = new Set<string>([...Object.values(ways).flatMap(({ needs, may }) => [...needs, ...may]), 'absent']);
  for (const each of [readings.lookup, readings.poll]) for (const name of [...each.needs, ...each.may]) all.add(name);
  for (const name of Object.keys(source.object('upstream', part) ?? {})) {
    // Others are unknown everywhere, and reported as such.
    if (known.includes(name) || !all.has(name)) continue;
    const instead = kind === 'module' ? "the module's own function answers" : `known here: ${known.join(', ')}`;
    source.report(['upstream', part, name], `means nothing for the ${part} of an upstream of kind ${kind}; ${instead}`);
  }
  for (const name of needed) {
    if (source.value('upstream', part, name) !== undefined) continue;
    source.report(['upstream', part, name], `missing; the ${part} of an upstream of kind ${kind} must have it`);
  }
}

function checkWay(source: ToolSource, part: Part): void {
  const path = ['upstream', part];
  const fields = fieldsOf(source, { accepted: part === 'poll' });
  checkTemplate(source, [...path, 'path'], fields);
  checkSegments(source, [...path, 'path']);
  checkHeaders(source, [...path, 'headers'], fields);
  checkProgram(source, [...path, 'argv'], fields);
  checkExpression(source, [...path, 'arguments'], ['args']);
}

function checkReading(source: ToolSource, part: Part): void {
  for (const name of ['present', 'receipt', 'count', 'executed', 'failed']) {
    checkExpression(source, ['upstream', part, name], variables[kindOf(source)]);
  }
  checkExpression(source, ['upstream', part, 'parts'], ['args']);
}

function checkAbsent(source: ToolSource): void {
  const absent = source.value('upstream', 'lookup', 'absent');
  if (!Array.isArray(absent)) return;
  const [least, most, what] =
    kindOf(source) === 'process'
      ? [1, 255, 'an exit status from 1 to 255']
      : [400, 499, 'an HTTP status from 400 to 499'];
  for (const [index, status] of absent.entries()) {
    if (typeof status === 'number' && (status < least || status > most)) {
      source.report(['upstream', 'lookup', 'absent', `${index}`], `is the number ${status}; must be ${what}`);
    }
  }
}

/** A lookup that asks the same whatever the request was finds somebody else's effect, or none. */
function checkNamesRequest(source: ToolSource): void {
  const path = ['upstream', 'lookup'];
  const headers = Object.values(source.object(...path, 'headers') ?? {});
  const [field, names, right] = {
    http: ['path', namesIn([source.text(...path, 'path'), ...headers]), '?key={{key}}'],
    process: ['argv', namesIn(source.value(...path, 'argv')), '[refund, find, --, "{{key}}"]'],
    mcp: ['arguments', argumentsName(source.text(...path, 'arguments')), '{ "reference": key }'],
    module: ['', true, ''],
  }[kindOf(source)] as [string, boolean, string];
  if (!names) source.report([...path, field], `asks the same for every request; must name this one, as in ${right}`);
}

/** The key goes with every call, in whatever way; the id of an intent only to programs. What was never sent is found never. */
function checkIsKnown(source: ToolSource): void {
  const kind = kindOf(source);
  if (kind !== 'http' && kind !== 'mcp') return;
  if (!namedByLookup(source).has('intentId') || namedByCall(source).has('intentId')) return;
  // An expression that hands over all that there is names the key, too.
  if (kind === 'mcp' && namedByLookup(source).has('key')) return;
  const field = kind === 'http' ? 'path' : 'arguments';
  source.report(
    ['upstream', 'lookup', field],
    'asks by intentId, which the call never sends, so that nothing is ever found; must ask by key, or the call must send it',
  );
}

/** True as well where there is no text to look at: that is another mistake. */
function namesIn(texts: Json | undefined): boolean {
  if (!Array.isArray(texts) || !texts.every((each) => typeof each === 'string')) return true;
  return texts.some((each) => placeholders(each).length > 0);
}

/** Left out, they are the arguments of the call. */
function argumentsName(text: string | null): boolean {
  const names = text === null ? null : expressionNames(text);
  return names === null || ['args', 'key', 'intentId', '$', '$$'].some((name) => names.has(name));
}
