import type { JsonObject } from '@intendant/intent';
import { inputsOf } from './inputs.js';
import type { PolicySet, Restriction } from './policy-set.js';
import { covers } from './tool-patterns.js';
import { bindingsOf, type Facts } from './variables.js';

/** Why a restriction refuses a call. */
export interface Refusal {
  readonly restriction: string;
  /** For the agent. Never repeats an argument. */
  readonly message: string;
  readonly inputs: JsonObject;
  /** For the operator: why it could not be evaluated; null when it could. */
  readonly error: string | null;
}

/** The restrictions of a tool in runs that a service key has opened; none for a key that no file names. */
export function restrictionsOf(
  set: PolicySet,
  serviceKey: string,
  tenant: string,
  tool: string,
): readonly Restriction[] {
  return set.serviceKey(serviceKey, tenant)?.restrict.filter(({ tools }) => covers(tools, tool)) ?? [];
}

/** The first restriction that is not true refuses, and so does one that cannot be evaluated. Null: none does. */
export function refusalBy(restrictions: readonly Restriction[], facts: Facts): Refusal | null {
  if (restrictions.length === 0) return null;
  const bindings = bindingsOf(facts);
  for (const { name, allow, message } of restrictions) {
    const result = allow.evaluate(bindings);
    if (result.ok && result.value === true) continue;
    const error = result.ok ? null : result.error;
    const odd = result.ok && result.value !== false ? 'is neither true nor false' : null;
    return { restriction: name, message, inputs: inputsOf(allow, bindings), error: error ?? odd };
  }
  return null;
}
