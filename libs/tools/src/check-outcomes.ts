import { checkExpression } from './check-expression.js';
import { kindOf, type UpstreamKind } from './read-upstream.js';
import { isObject, type ToolSource } from './tool-source.js';

/** What a rule can name as a variable (libs/upstream, viewOf). */
const variables: Readonly<Record<UpstreamKind, readonly string[]>> = {
  http: ['data', 'status', 'text'],
  mcp: ['data', 'isError', 'text', 'code', 'status'],
  process: ['data', 'exit', 'stderr', 'text'],
  module: [],
};

/** Checks the tool's own reading of answers: rules, and the maps of statuses and exit statuses. */
export function checkOutcomes(source: ToolSource): void {
  const kind = kindOf(source);
  if (kind !== 'http' && source.value('upstream', 'statuses') !== undefined) {
    const instead = kind === 'process' ? 'use upstream.process.exits' : 'use upstream.outcomes';
    source.report(
      ['upstream', 'statuses'],
      `means nothing for an upstream of kind ${kind}; ${kind === 'module' ? 'remove it' : instead}`,
    );
  }
  for (const [status, meaning] of Object.entries(source.object('upstream', 'statuses') ?? {})) {
    if (!/^2\d\d$/.test(status) || meaning !== 'not_executed') continue;
    source.report(
      ['upstream', 'statuses', status],
      `not_executed whatever the answer says; must be told by its body, as in outcomes: [{ when: "status = ${status} and data.ok = false", means: not_executed }]`,
    );
  }
  const rules = source.value('upstream', 'outcomes');
  if (!Array.isArray(rules)) return;
  if (kind === 'module') {
    source.report(['upstream', 'outcomes'], 'means nothing for a module, which says itself what happened; remove it');
    return;
  }
  for (const [index, rule] of rules.entries()) {
    if (!isObject(rule)) continue;
    const path = ['upstream', 'outcomes', `${index}`];
    checkExpression(source, [...path, 'when'], variables[kind]);
    checkExpression(source, [...path, 'receipt'], variables[kind]);
    if (rule['receipt'] !== undefined && rule['means'] !== 'executed') {
      source.report([...path, 'receipt'], `means nothing for ${rule['means']}; remove it, or say executed`);
    }
  }
}
