import type { Json } from '@intendant/intent';
import type { ErrorObject } from 'ajv/dist/2020.js';
import type { ArgumentProblem } from './argument-problem.js';
import { describeValue, quoteName } from './describe-value.js';
import { appendPointer } from './json-pointer.js';
import { nearest } from './suggest.js';

/** Turns one violation found by Ajv (verbose mode) into a problem that its reader can fix. */
export function describeViolation(error: ErrorObject): ArgumentProblem {
  const { keyword, params, instancePath: pointer } = error;
  const got = describeValue(error.data);
  switch (keyword) {
    case 'required':
      return absent(error, String(params.missingProperty));
    case 'dependentRequired':
      return {
        pointer: appendPointer(pointer, String(params.missingProperty)),
        expected: `a value, because ${quoteName(String(params.property))} is given`,
        got: 'nothing',
      };
    case 'additionalProperties':
      return unknown(error, String(params.additionalProperty));
    case 'unevaluatedProperties':
      return unknown(error, String(params.unevaluatedProperty));
    case 'enum':
      return { pointer, expected: oneOf(params.allowedValues as Json[]), allowed: params.allowedValues as Json[], got };
    case 'const':
      return {
        pointer,
        expected: `exactly ${JSON.stringify(params.allowedValue)}`,
        allowed: [params.allowedValue as Json],
        got,
      };
    default:
      return { pointer, expected: sentences[keyword]?.(params) ?? other(error), got };
  }
}

type Params = ErrorObject['params'];

const sentences: Readonly<Record<string, (params: Params) => string>> = {
  type: ({ type }) => types(type as string | string[]),
  minimum: ({ limit }) => `a number that is ${limit} or more`,
  maximum: ({ limit }) => `a number that is ${limit} or less`,
  exclusiveMinimum: ({ limit }) => `a number greater than ${limit}`,
  exclusiveMaximum: ({ limit }) => `a number less than ${limit}`,
  multipleOf: ({ multipleOf }) => `a multiple of ${multipleOf}`,
  minLength: ({ limit }) => `a string of at least ${count(limit, 'character')}`,
  maxLength: ({ limit }) => `a string of at most ${count(limit, 'character')}`,
  pattern: ({ pattern }) => `a string that matches ${pattern}`,
  format: ({ format }) => `a string in the format ${format}`,
  minItems: ({ limit }) => `an array of at least ${count(limit, 'item')}`,
  maxItems: ({ limit }) => `an array of at most ${count(limit, 'item')}`,
  uniqueItems: ({ i, j }) => `an array without repeated items (items ${j} and ${i} are equal)`,
  minProperties: ({ limit }) => `an object with at least ${count(limit, 'field')}`,
  maxProperties: ({ limit }) => `an object with at most ${count(limit, 'field')}`,
  propertyNames: ({ propertyName }) => `another field name than ${quoteName(String(propertyName))}`,
  contains: ({ minContains }) => `an array with at least ${count(minContains, 'item')} of the described kind`,
  anyOf: () => 'a value that fits one of the alternatives',
  oneOf: () => 'a value that fits exactly one of the alternatives',
  not: () => 'a value that the schema does not exclude',
  if: ({ failingKeyword }) => `a value that fits the ${failingKeyword} branch of the schema's condition`,
  'false schema': () => 'nothing here',
};

const nouns: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

function types(type: string | string[]): string {
  return [type]
    .flat()
    .flatMap((name) => name.split(','))
    .map((name) => nouns[name] ?? name)
    .join(' or ');
}

function absent(error: ErrorObject, name: string): ArgumentProblem {
  const schema = propertiesOf(error)[name];
  const allowed = isRecord(schema) && Array.isArray(schema['enum']) ? (schema['enum'] as Json[]) : undefined;
  let what = 'a value';
  if (allowed) what = oneOf(allowed);
  else if (isRecord(schema) && schema['type'] !== undefined) what = types(schema['type'] as string | string[]);
  const problem = { pointer: appendPointer(error.instancePath, name), expected: `${what} (required)`, got: 'nothing' };
  return allowed ? { ...problem, allowed } : problem;
}

function unknown(error: ErrorObject, name: string): ArgumentProblem {
  const known = Object.keys(propertiesOf(error));
  const near = nearest(name, known);
  return {
    pointer: appendPointer(error.instancePath, name),
    expected: near ? `no field of this name (did you mean ${quoteName(near)}?)` : 'no field of this name',
    allowed: known,
    got: quoteName(name),
  };
}

function propertiesOf(error: ErrorObject): Record<string, unknown> {
  const properties: unknown = error.parentSchema?.['properties'];
  return isRecord(properties) ? properties : {};
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function oneOf(values: readonly Json[]): string {
  return values.length === 1
    ? `exactly ${JSON.stringify(values[0])}`
    : `one of ${values.map((v) => JSON.stringify(v)).join(', ')}`;
}

function count(limit: unknown, unit: string): string {
  return `${limit} ${unit}${limit === 1 ? '' : 's'}`;
}

function other({ message, keyword }: ErrorObject): string {
  return message ?? `a value that satisfies ${keyword}`;
}
