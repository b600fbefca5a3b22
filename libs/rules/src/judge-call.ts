import { compile } from '@intendant/cel';
import type { Restriction as WrittenRestriction } from '@intendant/contracts';
import { judge, type Verdict } from './judge.js';
import type { PolicySet, Restriction } from './policy-set.js';
import { refusalBy } from './restrictions.js';
import { type Facts, neverRight, restrictionVariables } from './variables.js';

/** Judges a call by the restrictions of its run, then by the rules of its tenant. */
export function judgeCall(set: PolicySet, restrictions: readonly Restriction[], facts: Facts): Verdict {
  const refusal = refusalBy(restrictions, facts);
  if (refusal === null) return judge(set, facts);
  const { restriction: rule, message, inputs, error } = refusal;
  return { kind: 'deny', rule, message, inputs, error };
}

/** Why a restriction that compiles can never be what was meant; null: nothing speaks against it. */
export function restrictionNeverRight({ allow }: WrittenRestriction): string | null {
  return neverRight(compile(allow, restrictionVariables));
}

/** A restriction that a run was opened with, at its place in their list. @throws CelError when it is none. */
export function restrictionOfRun({ tools, allow, message }: WrittenRestriction, index: number): Restriction {
  return { name: `run.restrict.${index}`, tools, allow: compile(allow, restrictionVariables), message };
}
