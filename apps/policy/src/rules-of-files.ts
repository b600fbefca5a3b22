import { CelError } from '@intendant/cel';
import { type Facts, longestPast, type Past, type Restriction } from '@intendant/contracts';
import { defaultCeiling, type Written } from '@intendant/policy';
import {
  covers,
  judgeCall,
  needsRun,
  type PolicySet,
  patternMistake,
  type Restriction as ReadRestriction,
  type Facts as RuleFacts,
  refusalBy,
  restrictionNeverRight,
  restrictionOfRun,
  restrictionsOf,
} from '@intendant/rules';
import { costOfCall } from '@intendant/tools';
import type { OpeningRules } from './opening.js';
import type { Question, WrittenRules } from './written-rules.js';

/** Restrictions of runs whose expressions are kept ready. */
const mostKept = 1_000;

/** What policy files say, as admission asks for it. */
export function rulesOfFiles(set: PolicySet): WrittenRules {
  const compiled = new Map<string, ReadRestriction>();
  const ready = (restriction: Restriction, index: number): ReadRestriction => {
    const known = compiled.get(restriction.allow) ?? restrictionOfRun(restriction, index);
    if (compiled.size >= mostKept) compiled.clear();
    compiled.set(restriction.allow, known);
    return { ...restriction, name: `run.restrict.${index}`, allow: known.allow };
  };
  return {
    version: set.version,
    allows: (allow, question) => {
      const condition = ready({ tools: [question.tool.name], allow, message: '' }, 0);
      return refusalBy([condition], factsOf(question)) === null;
    },
    costOf: costOfCall,
    rateOf: (tenant) => set.rates(tenant).perTenant,
    needRun: (tenant, { name }) => needsRun(set, tenant, name),
    judge: (question) => {
      const { openedBy, session, tool } = question;
      const ofRun = question.restrictions.map(ready).filter(({ tools }) => covers(tools, tool.name));
      const restrictions = [...restrictionsOf(set, openedBy, session.tenant, tool.name), ...ofRun];
      const { kind, rule, message, inputs, error } = judgeCall(set, restrictions, factsOf(question));
      const written: Written = { kind, rule, message: message ?? '', inputs, error };
      // A restriction says what is within bounds.
      const bounded = restrictions.some(({ name }) => name === rule) && written.message !== '';
      return bounded ? { ...written, bounds: written.message } : written;
    },
  };
}

/** The most that keys may give to runs, as policy files say; what they leave open is as without them. */
export function openingRulesOf(set: PolicySet, tools: readonly string[]): OpeningRules {
  return {
    checkRestriction: (restriction) => restrictionMistake(restriction, tools),
    ceilingOf: ({ name, tenant }) => {
      const key = set.serviceKey(name, tenant);
      if (key === null) return defaultCeiling;
      const { calls, wallClockMs, mutating, destructive, costMicros } = key.ceilings;
      return {
        calls: calls ?? defaultCeiling.calls,
        wallClockMs: wallClockMs ?? defaultCeiling.wallClockMs,
        mutating: mutating ?? defaultCeiling.mutating,
        destructive: destructive ?? defaultCeiling.destructive,
        costMicros: costMicros ?? defaultCeiling.costMicros,
        permissions: key.permissions,
      };
    },
  };
}

/** Why a restriction that somebody wants to open a run with is none, and where; null where it is one. */
export function restrictionMistake(
  restriction: Restriction,
  tools: readonly string[],
): { readonly field: string; readonly expected: string } | null {
  for (const [at, pattern] of restriction.tools.entries()) {
    const mistake = patternMistake(pattern, tools);
    if (mistake)
      return { field: `tools/${at}`, expected: `a tool that is loaded: ${JSON.stringify(pattern)} ${mistake}` };
  }
  try {
    const never = restrictionNeverRight(restriction);
    return never === null ? null : { field: 'allow', expected: `a condition that can be right: it ${never}` };
  } catch (error) {
    if (error instanceof CelError) return { field: 'allow', expected: `CEL that can be used here (${error.message})` };
    throw error;
  }
}

function factsOf({ session, tool, args, sandbox, cost, taintedBy, facts }: Question): RuleFacts {
  const run = facts?.run ? runOf(facts.run, facts.now, sandbox) : { tainted: taintedBy !== null };
  return { session, tool, args, sandbox, cost: cost / micros, run };
}

/** What was done in a sandbox is the past of what is done in one, and of nothing else. */
function runOf(
  { used, past, openedAt, taintedBy }: NonNullable<Facts['run']>,
  now: number,
  sandbox: boolean,
): RuleFacts['run'] {
  const age = (at: number) => Math.max(0, (now - at) / 1_000);
  const told = ({ tool, effect, state, args, cost, at }: Past) => ({
    ...{ tool, effect, state, args: args ?? {}, cost: cost / micros },
    ageSeconds: age(at),
  });
  const held = past.filter((each) => each.held);
  const denied = past.filter(({ state }) => state === 'denied');
  const ofKind = (list: readonly Past[]) => list.filter((each) => each.sandbox === sandbox).map(told);
  return {
    ageSeconds: age(openedAt),
    tainted: taintedBy !== null,
    calls: used.calls,
    mutating: used.mutating,
    destructive: used.destructive,
    cost: used.cost / micros,
    // A rule that looks at what is not all there cannot be evaluated, and denies.
    ...(held.length <= longestPast && { history: ofKind(held) }),
    ...(denied.length <= longestPast && { denied: ofKind(denied) }),
  };
}

const micros = 1_000_000;
