import { CelError } from '@intendant/cel';
import type { Facts, Past, Restriction } from '@intendant/contracts';
import type { Written } from '@intendant/policy';
import {
  covers,
  judgeCall,
  type PolicySet,
  type Restriction as ReadRestriction,
  type Facts as RuleFacts,
  restrictionOfRun,
  restrictionsOf,
} from '@intendant/rules';
import { costOfCall } from '@intendant/tools';
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
    costOf: costOfCall,
    rateOf: (tenant) => set.rates(tenant).perTenant,
    needRun: (tenant, { name }) => set.rulesFor(tenant).some((rule) => rule.usesRun && covers(rule.tools, name)),
    judge: (question) => {
      const { openedBy, session, tool } = question;
      const ofRun = question.restrictions.map(ready).filter(({ tools }) => covers(tools, tool.name));
      const restrictions = [...restrictionsOf(set, openedBy, session.tenant, tool.name), ...ofRun];
      const { kind, rule, message, inputs, error } = judgeCall(set, restrictions, factsOf(question));
      return {
        kind,
        rule,
        message: message ?? '',
        inputs: error === null ? inputs : { ...inputs, error },
      } satisfies Written;
    },
  };
}

/** Why a restriction that somebody wants to open a run with is none; null where it is one. */
export function restrictionMistake(restriction: Restriction): string | null {
  try {
    restrictionOfRun(restriction, 0);
    return null;
  } catch (error) {
    if (error instanceof CelError) return error.message;
    throw error;
  }
}

function factsOf({ session, tool, args, sandbox, cost, facts }: Question): RuleFacts {
  return { session, tool, args, sandbox, cost: cost / micros, run: facts?.run ? runOf(facts.run, facts.now) : null };
}

function runOf({ used, past, openedAt, taintedBy }: NonNullable<Facts['run']>, now: number): RuleFacts['run'] {
  const age = (at: number) => Math.max(0, (now - at) / 1_000);
  const told = ({ tool, effect, state, args, cost, at }: Past) => ({
    ...{ tool, effect, state, args: args ?? {}, cost: cost / micros },
    ageSeconds: age(at),
  });
  return {
    ageSeconds: age(openedAt),
    tainted: taintedBy !== null,
    calls: used.calls,
    mutating: used.mutating,
    destructive: used.destructive,
    cost: used.cost / micros,
    history: past.filter(({ held }) => held).map(told),
    denied: past.filter(({ state }) => state === 'denied').map(told),
  };
}

const micros = 1_000_000;
