import type { JsonObject } from '@intendant/intent';
import { checkBounds } from './check-bounds.js';
import { checkPatterns } from './check-patterns.js';
import { compileSchema, isKeyword, schemaViolations } from './compile-schema.js';
import { describeViolation } from './describe-violation.js';
import { checkIdentifiers, fromResult } from './identifiers.js';
import { pointerSteps } from './json-pointer.js';
import { subschemas } from './subschemas.js';
import { nearest } from './suggest.js';
import { isObject, type Path, type ToolSource } from './tool-source.js';
import { isTrustedName, normalizeName } from './trusted-fields.js';

/** Checks the schemas of arguments and result: that they are schemas, and that the input lets nothing unnamed in. */
export function checkSchemas(source: ToolSource): void {
  const output = source.object('output');
  if (output) checkSchema(source, ['output'], output);
  const input = source.object('input');
  if (!input) return;
  if (input['type'] !== 'object') source.report(['input', 'type'], 'wrong or missing; must be object');
  if (input['additionalProperties'] !== false) source.report(['input', 'additionalProperties'], mustBeClosed);
  checkClosed(source, ['input'], input, true);
  checkNames(source, ['input'], input, new Set(Object.keys(source.object('inject') ?? {}).map(normalizeName)));
  checkSchema(source, ['input'], input);
  checkIdentifiers(source);
}

const mustBeClosed = 'must be false, so that only the properties that are listed get in';

function checkSchema(source: ToolSource, path: Path, schema: JsonObject): void {
  try {
    const wrong = schemaViolations(schema);
    for (const error of wrong) {
      const { expected, got } = describeViolation(error);
      source.report([...path, ...pointerSteps(error.instancePath)], `is ${got}; must be ${expected}`);
    }
    if (wrong.length > 0 || !checkKeywords(source, path, schema) || !checkPatterns(source, path, schema)) return;
    checkBounds(source, path, schema);
    compileSchema(schema);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // Ajv names the place in most messages: `… at path "#/properties/a"`.
    const place = /"#(\/[^"]*)"/.exec(message)?.[1] ?? '';
    source.report(
      [...path, ...pointerSteps(place)],
      `${message.replace(/^strict mode: /, '')}; must be JSON Schema 2020-12`,
    );
  }
}

function checkKeywords(source: ToolSource, path: Path, schema: JsonObject): boolean {
  let good = true;
  for (const keyword of Object.keys(schema)) {
    // `$id` would let two tools collide, `$async` would make the answer of a validator a promise.
    if (isKeyword(keyword) && keyword !== '$id' && keyword !== '$async') continue;
    const near = nearest(keyword, keywords);
    source.report(
      [...path, keyword],
      `unknown keyword; ${near ? `did you mean ${near}?` : 'must be one of JSON Schema 2020-12'}`,
    );
    good = false;
  }
  for (const inner of subschemas(schema)) good = checkKeywords(source, [...path, ...inner.steps], inner.schema) && good;
  return good;
}

/** Keywords people mistype. */
const keywords = [
  ...['type', 'enum', 'const', 'properties', 'required', 'additionalProperties', 'patternProperties', 'items'],
  ...['prefixItems', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength'],
  ...['maxLength', 'pattern', 'format', 'minItems', 'maxItems', 'uniqueItems', 'description', 'default', 'examples'],
  ...['allOf', 'anyOf', 'oneOf', 'dependentRequired', 'title', '$defs', '$ref', '$comment', fromResult],
];

/** `closed`: the schema around this one already lets no unnamed property of the same object in. */
function checkClosed(source: ToolSource, path: Path, schema: JsonObject, closed: boolean): void {
  const open = schema['additionalProperties'] !== false && schema['unevaluatedProperties'] !== false;
  if (isObject(schema['properties']) && open && !closed) {
    source.report([...path, 'additionalProperties'], mustBeClosed);
  }
  checkRequired(source, path, schema);
  for (const inner of subschemas(schema)) {
    checkClosed(source, [...path, ...inner.steps], inner.schema, inner.inPlace && (closed || !open));
  }
}

/** A name that is required but not let in makes every call fail. */
function checkRequired(source: ToolSource, path: Path, schema: JsonObject): void {
  const { required, properties, patternProperties, additionalProperties } = schema;
  if (!Array.isArray(required) || additionalProperties !== false || patternProperties !== undefined) return;
  const known = isObject(properties) ? Object.keys(properties) : [];
  for (const [index, name] of required.entries()) {
    const unlisted = typeof name === 'string' && !known.includes(name);
    if (unlisted) source.report([...path, 'required', `${index}`], `${name} is not among the properties; add it there`);
  }
}

function checkNames(source: ToolSource, path: Path, schema: JsonObject, injected: ReadonlySet<string>): void {
  const properties = schema['properties'];
  for (const name of isObject(properties) ? Object.keys(properties) : []) {
    if (isTrustedName(name, injected)) {
      const right = 'declare it in inject, where the runtime fills it in';
      source.report([...path, 'properties', name], `a trusted field is never taken from a model; ${right}`);
    } else if (name === '__proto__' || name === 'constructor' || name === 'prototype') {
      source.report([...path, 'properties', name], 'no message may carry this name; choose another');
    }
  }
  for (const inner of subschemas(schema)) checkNames(source, [...path, ...inner.steps], inner.schema, injected);
}
