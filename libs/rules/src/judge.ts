import type { Bindings } from '@intendant/cel';
import type { JsonObject } from '@intendant/intent';
import { inputsOf } from './inputs.js';
import type { Kind, PolicySet, Rule } from './policy-set.js';
import { covers } from './tool-patterns.js';
import { bindingsOf, type Facts } from './variables.js';

/** What the rules say of a call. */
export interface Verdict {
  readonly kind: Kind;
  /** The rule that decided; null: no rule matched. */
  readonly rule: string | null;
  /** For the agent; null where an allowance says nothing. Never repeats an argument. */
  readonly message: string | null;
  /** What the deciding rule looked at, by its path, with long values cut. */
  readonly inputs: JsonObject;
  /** For the operator: why the rule could not be evaluated, which may repeat an argument; null when it could. */
  readonly error: string | null;
}

/** The order in which rules count. */
const precedence: readonly Kind[] = ['deny', 'require_approval', 'allow'];

/**
 * Judges a call by the rules of its tenant: a denial that matches wins, then a rule that cannot be evaluated, which denies
 * too, then a demand for approval, then an allowance, then the default. The order of rules and files makes no difference.
 */
export function judge(set: PolicySet, facts: Facts): Verdict {
  const bindings = bindingsOf(facts);
  const rules = set.rulesFor(facts.session.tenant).filter(({ tools }) => covers(tools, facts.tool.name));
  let failure: Verdict | null = null;
  let decided: Verdict | null = null;
  for (const kind of precedence) {
    for (const rule of rules.filter(({ then }) => then === kind)) {
      const verdict = verdictOf(rule, bindings);
      if (verdict === null) continue;
      if (verdict.error !== null) failure ??= verdict;
      else if (kind === 'deny') return verdict;
      else decided ??= verdict;
    }
  }
  return failure ?? decided ?? byDefault(set);
}

/** Whether {@link judge} looks at the run for calls of this tool, so that its history has to be loaded. */
export function needsRun(set: PolicySet, tenant: string, tool: string): boolean {
  return set.rulesFor(tenant).some(({ tools, usesRun }) => usesRun && covers(tools, tool));
}

/** Null: the rule does not match. */
function verdictOf(rule: Rule, bindings: Bindings): Verdict | null {
  const result = rule.when?.evaluate(bindings) ?? { ok: true, value: true };
  if (result.ok && result.value === false) return null;
  const decided = { rule: rule.name, inputs: inputsOf(rule.when, bindings) };
  if (result.ok && result.value === true) return { ...decided, kind: rule.then, message: rule.message, error: null };
  return {
    ...decided,
    kind: 'deny',
    message: `The rule ${rule.name} cannot be applied to this call, so it is refused.`,
    error: result.ok ? 'is neither true nor false' : result.error,
  };
}

function byDefault(set: PolicySet): Verdict {
  const message = set.default === 'deny' ? 'No rule allows this call.' : null;
  return { kind: set.default, rule: null, message, inputs: {}, error: null };
}
