import { type CelValue, isCelError, parse, plan } from '@bufbuild/cel';
import { Bindings } from './bindings.js';
import { CelError } from './cel-error.js';
import { checkParts, Misuse, type Variables } from './check-parts.js';
import { meteredEnv } from './functions.js';
import { type Comparison, comparisonsIn, type KindOfAnswer, kindOfAnswer } from './kind-of-answer.js';
import { longestExpression } from './limits.js';
import { meterLoops } from './meter-loops.js';
import type { Parsed, Part } from './syntax.js';
import { fromCelValue } from './values.js';
import { beginWork, tooMuchWork, workExhausted } from './work.js';

/** What an evaluation came to. `error` is for operators: it may repeat what is in the data. */
export type Evaluation =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: string };

/** A CEL expression that was checked. */
export interface Expression {
  readonly text: string;
  /** Paths that it reads, from a variable on: `[args, amount_cents]`. One that ends at a list or map reads all of it. */
  readonly reads: readonly (readonly string[])[];
  readonly answers: KindOfAnswer;
  readonly comparisons: readonly Comparison[];
  /**
   * Never throws, and ends in bounded time whatever the values are: with an error if it takes too much work. Values are
   * JSON; an integer within ±(2^53 - 1) is an int, every other number a double.
   */
  evaluate(bindings: Bindings | Readonly<Record<string, unknown>>): Evaluation;
}

/**
 * Checks and prepares a CEL expression.
 *
 * @param variables what it may read.
 * @throws CelError when it is not CEL, is too long, or names what does not exist.
 */
export function compile(text: string, variables: Variables): Expression {
  if (text.length > longestExpression) throw new CelError(`is longer than ${longestExpression} characters`);
  const parsed = parsedFrom(text);
  const root = parsed.expr;
  if (!root) throw new CelError('is empty; must be a CEL expression');
  const reads = checked(text, parsed, root, variables);
  const answers = kindOfAnswer(root);
  const comparisons = comparisonsIn(root);
  meterLoops(root);
  const run = planned(parsed);
  return {
    text,
    reads,
    answers,
    comparisons,
    evaluate: (bindings) => evaluate(run, reads, bindings instanceof Bindings ? bindings : new Bindings(bindings)),
  };
}

function parsedFrom(text: string): Parsed {
  if (text.trim() === '') throw new CelError('is empty; must be a CEL expression');
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof RangeError) throw new CelError('is nested too deep', null, null, { cause: error });
    const { rawMessage, location } = error as { rawMessage?: string; location?: { start?: Place } };
    const message = rawMessage ?? (error instanceof Error ? error.message : String(error));
    throw new CelError(message, location?.start?.line, location?.start?.column, { cause: error });
  }
}

interface Place {
  readonly line: number;
  readonly column: number;
}

function checked(text: string, { sourceInfo }: Parsed, root: Part, variables: Variables): Expression['reads'] {
  try {
    return checkParts(root, variables);
  } catch (error) {
    if (!(error instanceof Misuse)) throw error;
    const before = text.slice(0, sourceInfo?.positions[String(error.part.id)] ?? 0).split('\n');
    throw new CelError(error.message, before.length, (before.at(-1)?.length ?? 0) + 1, { cause: error });
  }
}

type Run = (values: Record<string, CelValue>) => unknown;

function planned(parsed: Parsed): Run {
  try {
    return plan(meteredEnv, parsed);
  } catch (error) {
    throw new CelError(error instanceof Error ? error.message : String(error), null, null, { cause: error });
  }
}

function evaluate(run: Run, reads: Expression['reads'], bindings: Bindings): Evaluation {
  const { stackTraceLimit } = Error;
  // To the library an error is a value, and a loop that goes on after errors makes one per element. Each took twenty times as
  // long as anything else, for a stack that nobody sees.
  Error.stackTraceLimit = 0;
  beginWork();
  try {
    const values: Record<string, CelValue> = Object.create(null);
    for (const [name = ''] of reads) {
      const value = bindings.get(name);
      if (value !== undefined) values[name] = value;
    }
    const result = run(values);
    if (workExhausted()) return failed(tooMuchWork);
    return isCelError(result) ? failed(result.message) : { ok: true, value: fromCelValue(result as CelValue) };
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Longest error, in characters; some repeat a value. */
const longestError = 200;

function failed(message: string): Evaluation {
  return { ok: false, error: message.length > longestError ? `${message.slice(0, longestError)}…` : message };
}
