import type { OutcomeRule, StatusMeaning } from '@intendant/contracts';
import type { Json } from '@intendant/intent';
import { evaluate } from './expression.js';
import { MappingError } from './mapping-error.js';

/**
 * An answer as the expressions of a tool file see it: the whole body as `data`, beside it facts such as `status`, and
 * the fields of the body by their own names.
 */
export interface View {
  /** A field of the body hides a fact of the same name: in `{"data": [], "more": false}`, `data` is the list. */
  readonly root: object;
  /** The facts and the whole body, whatever the body's fields are called: `$status`, `$data`. */
  readonly bindings: Readonly<Record<string, unknown>>;
}

export function viewOf(data: Json | undefined, facts: Readonly<Record<string, Json>>): View {
  const bindings = { data: data ?? null, ...facts };
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
  return { root: isObject ? { ...bindings, ...data } : bindings, bindings };
}

/** @throws MappingError when the expression fails */
export function evaluateOn(view: View, expression: string): Promise<Json | undefined> {
  return evaluate(expression, view.root, view.bindings);
}

/**
 * For rules, which read bodies of every shape: facts and `data` are those of the answer, whatever its fields are called.
 *
 * @throws MappingError when the expression fails
 */
export function evaluateRule({ root, bindings }: View, expression: string): Promise<Json | undefined> {
  return evaluate(expression, { ...root, ...bindings }, bindings);
}

/** What an answer means; `receipt` selects the proof in it, null for the whole answer. */
export interface Meaning {
  readonly meaning: StatusMeaning;
  /** For `not_executed`: the same request may succeed later. */
  readonly transient: boolean;
  readonly receipt: string | null;
}

/**
 * The tool's own reading of an answer, or null where no rule of its file applies. A rule that selects nothing does not
 * apply: most answers lack the field that it asks for.
 *
 * @throws MappingError when a rule fails, or gives something that is neither true nor false: then nobody knows what
 * the answer means
 */
export async function ruled(rules: readonly OutcomeRule[], view: View): Promise<OutcomeRule | null> {
  for (const rule of rules) {
    const holds = await evaluateRule(view, rule.when);
    if (holds === true) return rule;
    if (holds !== false && holds !== undefined) throw new MappingError(`"${rule.when}" is neither true nor false`);
  }
  return null;
}
