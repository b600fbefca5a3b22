import type { Json } from '@intendant/intent';
import { expressionNames } from './check-expression.js';
import { placeholders } from './placeholders.js';
import { kindOf } from './read-upstream.js';
import { isObject, type ToolSource } from './tool-source.js';

/** Names of one intent and no other. */
export const identities = ['key', 'intentId'] as const;
type Identity = (typeof identities)[number];

/** Which of them the call itself mentions, beside what the runtime sends anyway. */
export function namedByCall(source: ToolSource): Set<Identity> {
  const kind = kindOf(source);
  const fields = source.object('upstream', kind) ?? {};
  return new Set([
    ...inTemplates([fields['path'], fields['headers'], kind === 'process' ? fields['argv'] : undefined]),
    ...[fields['body'], fields['input'], kind === 'mcp' ? fields['arguments'] : undefined].flatMap(inExpression),
  ]);
}

/** Which of them the lookup asks by. A module asks by what it likes. */
export function namedByLookup(source: ToolSource): Set<Identity> {
  const { path, headers, argv, arguments: expression } = source.object('upstream', 'lookup') ?? {};
  return new Set([...inTemplates([path, headers, argv]), ...inExpression(expression)]);
}

function inTemplates(values: readonly (Json | undefined)[]): Identity[] {
  const names = values.flatMap(textsIn).flatMap(placeholders);
  return identities.filter((identity) => names.includes(identity));
}

/** The root of all, `$$`, holds them, and so does the context. */
function inExpression(text: Json | undefined): Identity[] {
  const names = typeof text === 'string' ? expressionNames(text) : null;
  return identities.filter((identity) => ['$', '$$', identity].some((name) => names?.has(name)));
}

function textsIn(value: Json | undefined): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
}
