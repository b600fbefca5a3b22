import type { Json } from '@intendant/intent';
import jsonata from 'jsonata';
import { LinearRegExp } from './linear-reg-exp.js';
import { MappingError } from './mapping-error.js';
import { messageOf } from './short-text.js';

/** Generous for mapping a few fields, and short enough that a runaway recursion does not stall other attempts. */
const limits = { timeout: 500, stack: 500, RegexEngine: LinearRegExp as unknown as RegExpConstructor };

/** By text. Expressions come from tool files only, so there are as many as the files hold. */
const compiled = new Map<string, jsonata.Expression>();

/**
 * Evaluates a JSONata expression of a tool file. The result is plain JSON, or undefined when the expression selects
 * nothing.
 *
 * @throws MappingError when the expression does not compile, fails, or yields something that is not JSON
 */
export async function evaluate(
  text: string,
  input: unknown,
  bindings: Readonly<Record<string, unknown>>,
): Promise<Json | undefined> {
  try {
    const result: unknown = await compile(text).evaluate(input, { ...bindings });
    // JSONata's lists carry marks of their own; a copy through JSON has none.
    const json = JSON.stringify(result) as string | undefined;
    return json === undefined ? undefined : (JSON.parse(json) as Json);
  } catch (error) {
    throw new MappingError(messageOf(error), { cause: error });
  }
}

function compile(text: string): jsonata.Expression {
  const known = compiled.get(text);
  if (known !== undefined) return known;
  const expression = jsonata(text, limits);
  // `$eval` would run text out of the arguments, which a model wrote.
  expression.assign('eval', undefined);
  compiled.set(text, expression);
  return expression;
}
