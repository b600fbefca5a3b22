import type { JsonObject } from '@intendant/intent';
import { isObject } from './tool-source.js';

/** A schema inside another one (JSON Schema 2020-12, core, section 10). */
export interface Subschema {
  readonly schema: JsonObject;
  readonly steps: readonly string[];
  /** True when it applies to the same value as the schema around it, such as a branch of `anyOf`. */
  readonly inPlace: boolean;
}

const single = {
  not: true,
  if: true,
  then: true,
  else: true,
  additionalProperties: false,
  unevaluatedProperties: false,
  items: false,
  unevaluatedItems: false,
  contains: false,
  propertyNames: false,
};
const lists = { allOf: true, anyOf: true, oneOf: true, prefixItems: false };
const maps = {
  dependentSchemas: true,
  // The older names of dependentSchemas and $defs, which Ajv still knows.
  dependencies: true,
  definitions: false,
  properties: false,
  patternProperties: false,
  $defs: false,
};

/** The schemas directly inside a schema, in a fixed order. */
export function* subschemas(schema: JsonObject): Generator<Subschema> {
  for (const [keyword, inPlace] of Object.entries(single)) {
    const value = schema[keyword];
    if (isObject(value)) yield { schema: value, steps: [keyword], inPlace };
  }
  for (const [keyword, inPlace] of [...Object.entries(lists), ...Object.entries(maps)]) {
    const value = schema[keyword];
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, part] of Object.entries(value)) {
      if (isObject(part)) yield { schema: part, steps: [keyword, name], inPlace };
    }
  }
}
