import type { JsonObject } from '@intendant/intent';
import { patternMistake } from './linear-pattern.js';
import { subschemas } from './subschemas.js';
import { isObject, type Path, type ToolSource } from './tool-source.js';

/** Checks every regular expression of a schema; false when one cannot be used. */
export function checkPatterns(source: ToolSource, path: Path, schema: JsonObject): boolean {
  const { pattern, patternProperties } = schema;
  let good = typeof pattern !== 'string' || check(source, [...path, 'pattern'], pattern);
  for (const name of isObject(patternProperties) ? Object.keys(patternProperties) : []) {
    good = check(source, [...path, 'patternProperties', name], name) && good;
  }
  for (const inner of subschemas(schema)) good = checkPatterns(source, [...path, ...inner.steps], inner.schema) && good;
  return good;
}

function check(source: ToolSource, path: Path, pattern: string): boolean {
  const mistake = patternMistake(pattern);
  if (mistake) source.report(path, mistake);
  return mistake === null;
}
