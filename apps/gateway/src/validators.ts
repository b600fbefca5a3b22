import { expectedOfBudget, isBudgetCount, isLine, isProse, microsOf, parseDuration } from '@intendant/contracts';
import { applyDecorators } from '@nestjs/common';
import { IsIn, ValidateBy, ValidateNested, type ValidationOptions } from 'class-validator';
import { parseSince } from './since.js';

/** Validators whose message is what was expected, as callers read it. */

/** One line of text: no control characters, and nothing the database cannot store. */
export function IsLine(max: number, options: ValidationOptions = {}): PropertyDecorator {
  return rule('isLine', (value) => isLine(value, max), `a line of text, 1 to ${max} characters`, options);
}

/** Text of a person: line breaks are fine. */
export function IsProse(max: number): PropertyDecorator {
  return rule('isProse', (value) => isProse(value, max), `text, 1 to ${max} characters`);
}

/** A duration from a second to `maxMs`. */
export function IsDuration(maxMs: number): PropertyDecorator {
  const fits = (value: unknown) => {
    const ms = typeof value === 'string' ? parseDuration(value) : null;
    return ms !== null && ms >= 1_000 && ms <= maxMs;
  };
  return rule('isDuration', fits, `a duration such as PT30M, 2h or 3600 (seconds), at most ${maxMs / 3_600_000}h`);
}

/** A moment, or a duration up to `maxMs` that ends now. */
export function IsSince(maxMs: number): PropertyDecorator {
  const fits = (value: unknown) => {
    const since = typeof value === 'string' ? parseSince(value) : null;
    return since !== null && ('at' in since || (since.forMs >= 1_000 && since.forMs <= maxMs));
  };
  return rule('isSince', fits, 'a duration such as 7d or PT30M, or a time such as 2026-01-31T12:00:00Z');
}

/** A whole number in decimal digits, as query strings carry it. */
export function IsCount(max: number): PropertyDecorator {
  const fits = (value: unknown) =>
    typeof value === 'string' && /^\d{1,6}$/.test(value) && Number(value) >= 1 && Number(value) <= max;
  return rule('isCount', fits, `a whole number from 1 to ${max}`);
}

/** A whole number of a JSON body. */
export function IsNumberFrom(least: number, most: number): PropertyDecorator {
  const fits = (value: unknown) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
  return rule('isNumberFrom', fits, `a whole number from ${least} to ${most}`);
}

/** A limit on how many. */
export function IsBudgetCount(): PropertyDecorator {
  return rule('isBudgetCount', isBudgetCount, expectedOfBudget.count);
}

/** A limit on what calls cost, in units. */
export function IsBudgetCost(): PropertyDecorator {
  return rule('isBudgetCost', (value) => microsOf(value) !== null, expectedOfBudget.cost);
}

/** An object; what is in it is checked by the validators of its class. */
export function IsSingle(expected: string, options: ValidationOptions = {}): PropertyDecorator {
  const fits = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  const nested = ValidateNested({ ...options, message: prefixed(expected, options) });
  return applyDecorators(rule('isSingle', fits, expected, options), nested) as PropertyDecorator;
}

export function IsFlag(): PropertyDecorator {
  return rule('isFlag', (value) => typeof value === 'boolean', 'true or false');
}

export function IsShape(pattern: RegExp, expected: string, options: ValidationOptions = {}): PropertyDecorator {
  return rule('isShape', (value) => typeof value === 'string' && pattern.test(value), expected, options);
}

export function IsOneOf(values: readonly string[]): PropertyDecorator {
  return IsIn([...values], { message: `one of ${values.join(', ')}` });
}

function rule(
  name: string,
  validate: (value: unknown) => boolean,
  expected: string,
  options: ValidationOptions = {},
): PropertyDecorator {
  return ValidateBy({ name, validator: { validate, defaultMessage: () => prefixed(expected, options) } }, options);
}

function prefixed(expected: string, { each }: ValidationOptions): string {
  return each ? `a list, each item of it ${expected}` : expected;
}
