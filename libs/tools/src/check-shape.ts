import type { JsonObject } from '@intendant/intent';
import type { ErrorObject } from 'ajv/dist/2020.js';
import { violations } from './compile-schema.js';
import { describeValue } from './describe-value.js';
import { describeViolation } from './describe-violation.js';
import { pointerSteps } from './json-pointer.js';
import { nearest } from './suggest.js';
import { dig, type Path, type ToolSource } from './tool-source.js';

/** Checks the file against its published schema, whose titles complete "must be …". */
export function checkShape(source: ToolSource, schema: JsonObject): void {
  for (const error of violations(schema, source.data)) report(source, schema, error);
}

function report(source: ToolSource, schema: JsonObject, error: ErrorObject): void {
  const path = pointerSteps(error.instancePath);
  switch (error.keyword) {
    case 'required':
      reportMissing(source, [...path, String(error.params.missingProperty)], schema, error.parentSchema);
      return;
    case 'additionalProperties':
      reportUnknown(source, path, String(error.params.additionalProperty), error.parentSchema?.['properties']);
      return;
    case 'propertyNames':
      source.report(
        [...path, String(error.params.propertyName)],
        `bad name; must be ${error.parentSchema?.['propertyNames'].title}`,
      );
      return;
    default:
      // The pattern inside `propertyNames` is reported by `propertyNames` itself.
      if (error.propertyName === undefined) source.report(path, wrong(source, path, error));
  }
}

function wrong(source: ToolSource, path: Path, error: ErrorObject): string {
  const right: unknown = error.parentSchema?.['title'] ?? describeViolation(error).expected;
  return `is ${describeValue(dig(source.written, path))}; must be ${right}`;
}

function reportMissing(source: ToolSource, path: Path, root: JsonObject, around: unknown): void {
  const schema =
    property(property(around, 'properties'), path.at(-1) ?? '') ??
    path.reduce<unknown>((at, step) => property(property(at, 'properties'), step), root);
  const choices = property(schema, 'enum');
  const right = Array.isArray(choices) ? choices.join(', ').replace(/, ([^,]*)$/, ' or $1') : property(schema, 'title');
  source.report(path, `missing; must be ${right ?? 'there'}`);
}

function reportUnknown(source: ToolSource, path: Path, name: string, properties: unknown): void {
  const known = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  const near = nearest(name, known);
  source.report(
    [...path, name],
    `unknown field; ${near ? `did you mean ${near}?` : `known here: ${known.join(', ')}`}`,
  );
}

function property(object: unknown, name: string): unknown {
  return typeof object === 'object' && object !== null ? (object as Record<string, unknown>)[name] : undefined;
}
