import type { JsonObject } from '@intendant/intent';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { fromResult } from './identifiers.js';
import { linearPattern } from './linear-pattern.js';
import { isShortUrl } from './short-url.js';

const ajv = new Ajv2020({
  strict: true,
  // Combinations such as `anyOf: [{ required: [a] }, { required: [b] }]` are good schemas.
  strictRequired: false,
  allowUnionTypes: true,
  allErrors: true,
  // Without it a required property `constructor` would be found on every object.
  ownProperties: true,
  verbose: true,
  code: { regExp: Object.assign(linearPattern, { code: 'linearPattern' }) },
  logger: false,
});
formats.default(ajv);
ajv.addFormat('url', isShortUrl);
// The first is no rule for a validator: admission asks where the value comes from. References to the second are followed, and
// yet strict mode does not know its name.
ajv.addVocabulary([fromResult, '$anchor']);

const compiled = new WeakMap<JsonObject, ValidateFunction>();

/**
 * The validator of a JSON Schema 2020-12, compiled once per schema object. Validators report every violation.
 *
 * @throws Error when the schema is not valid in Ajv's strict mode.
 */
export function compileSchema(schema: JsonObject): ValidateFunction {
  const known = compiled.get(schema);
  if (known) return known;
  try {
    const validate = ajv.compile(schema);
    compiled.set(schema, validate);
    return validate;
  } finally {
    // Ajv's own cache would keep every schema for ever.
    ajv.removeSchema(schema);
  }
}

/** All violations of a value, in the order of the schema. */
export function violations(schema: JsonObject, value: unknown): readonly ErrorObject[] {
  const validate = compileSchema(schema);
  return validate(value) ? [] : (validate.errors ?? []);
}

/**
 * What is wrong with a schema itself, by the meta-schema of JSON Schema 2020-12.
 *
 * @throws Error when the schema names another dialect.
 */
export function schemaViolations(schema: JsonObject): readonly ErrorObject[] {
  return ajv.validateSchema(schema) === true ? [] : (ajv.errors ?? []);
}

/** True for a keyword of JSON Schema 2020-12 or of the formats vocabulary. */
export function isKeyword(name: string): boolean {
  return Object.hasOwn(ajv.RULES.keywords, name);
}
