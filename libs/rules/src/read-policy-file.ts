import { CelError, compile, type Expression, type Variables } from '@intendant/cel';
import type { Json } from '@intendant/intent';
import { checkShape, parseDuration, parseRate, type ToolSource } from '@intendant/tools';
import { policyFileSchema } from './policy-file-schema.js';
import type { Ceilings, Kind, PolicyFile, Restriction, Rule, ServiceKeyPolicy, ToolPatterns } from './policy-set.js';
import { patternMistake } from './tool-patterns.js';
import { neverRight, readsPast, restrictionVariables, ruleVariables } from './variables.js';

type Path = readonly string[];

/** What decisions say in place of a written rule, where something else has decided: no rule may be called so. */
export const builtIn: ReadonlySet<string> = new Set([
  ...['permission', 'phase', 'taint', 'budget', 'denials', 'rate', 'cost', 'provenance', 'default'],
  ...['business_key', 'causal_hold', 'look_alike', 'refused_before', 'approval', 'asked_before', 'grant'],
]);

/**
 * What one file says. Mistakes are reported to the source, and the answer is worth nothing then.
 *
 * @param tools names of the tools that are loaded.
 */
export function readPolicyFile(source: ToolSource, tools: readonly string[]): PolicyFile {
  checkShape(source, policyFileSchema);
  const tenant = source.text('tenant');
  const chosen = source.text('default');
  if (tenant !== null && chosen !== null) {
    source.report(['default'], 'is for the whole deployment; must stand in the file without tenant');
  }
  return {
    tenant,
    default: chosen === 'deny' || chosen === 'allow' ? chosen : null,
    serviceKeys: new Map(
      Object.keys(source.object('serviceKeys') ?? {}).map((name) => [name, readServiceKey(source, name, tools)]),
    ),
    perTenant: parseRate(source.text('rates', 'perTenant') ?? ''),
    rules: listAt(source, ['rules']).map((path) => readRule(source, path, tools)),
  };
}

function readRule(source: ToolSource, path: Path, tools: readonly string[]): Rule {
  const then = source.text(...path, 'then') as Kind;
  const message = source.text(...path, 'message');
  if (message === null && then !== 'allow') {
    source.report([...path, 'message'], 'missing; must tell the agent why');
  }
  const name = source.text(...path, 'name') ?? '';
  if (builtIn.has(name)) {
    source.report([...path, 'name'], 'is what decisions say where no written rule has decided; must be another name');
  }
  const when =
    source.value(...path, 'when') === undefined ? null : readExpression(source, [...path, 'when'], ruleVariables);
  return {
    name,
    tools: readTools(source, [...path, 'tools'], tools),
    when,
    then,
    message,
    usesRun: when !== null && readsPast(when),
    file: source.file,
  };
}

function readServiceKey(source: ToolSource, name: string, tools: readonly string[]): ServiceKeyPolicy {
  const path = ['serviceKeys', name];
  const permissions = source.value(...path, 'permissions');
  return {
    ceilings: readCeilings(source, [...path, 'ceilings']),
    permissions: Array.isArray(permissions) ? permissions.map(String) : null,
    restrict: listAt(source, [...path, 'restrict']).map(
      (each): Restriction => ({
        name: `${name}.${each.slice(-2).join('.')}`,
        tools: readTools(source, [...each, 'tools'], tools),
        allow: readExpression(source, [...each, 'allow'], restrictionVariables) ?? never,
        message: source.text(...each, 'message') ?? '',
      }),
    ),
  };
}

function readCeilings(source: ToolSource, path: Path): Ceilings {
  const number = (name: string): number | null => {
    const value = source.value(...path, name);
    return typeof value === 'number' ? value : null;
  };
  const cost = number('cost');
  const wallClock = source.text(...path, 'wallClock');
  if (wallClock !== null) source.duration([...path, 'wallClock'], wallClock);
  return {
    calls: number('calls'),
    wallClockMs: wallClock === null ? null : parseDuration(wallClock),
    mutating: number('mutating'),
    destructive: number('destructive'),
    costMicros: cost === null ? null : Math.round(cost * 1_000_000),
  };
}

function readTools(source: ToolSource, path: Path, tools: readonly string[]): ToolPatterns {
  const patterns = source.value(...path);
  if (!Array.isArray(patterns)) return null;
  for (const [index, pattern] of (patterns as readonly Json[]).entries()) {
    const mistake = typeof pattern === 'string' ? patternMistake(pattern, tools) : null;
    if (mistake) source.report([...path, `${index}`], mistake);
  }
  return patterns.map(String);
}

/** Stands for an expression with a mistake in a file that is refused for it. */
const never: Expression = {
  text: '',
  reads: [],
  answers: 'unknown',
  comparisons: [],
  evaluate: () => ({ ok: false, error: 'was not compiled' }),
};

function readExpression(source: ToolSource, path: Path, variables: Variables): Expression {
  const text = source.text(...path);
  if (text === null) return never;
  try {
    const expression = compile(text, variables);
    const mistake = neverRight(expression);
    if (mistake) source.report(path, mistake);
    return expression;
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    source.report(path, `${error.sentence}; must be a CEL expression that is true or false`);
    return never;
  }
}

/** Paths of the items of a list. */
function listAt(source: ToolSource, path: Path): Path[] {
  const list = source.value(...path);
  return Array.isArray(list) ? list.map((_, index) => [...path, `${index}`]) : [];
}
