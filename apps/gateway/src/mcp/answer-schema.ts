import type { Json, JsonObject } from '@intendant/intent';

const made = new WeakMap<JsonObject, JsonObject>();
const anything: JsonObject = {};

/** The schema of the result (docs/agents-mcp.md) around that of the tool's own data. */
export function answerSchema(data: JsonObject | null): JsonObject {
  const key = data ?? anything;
  const known = made.get(key) ?? around(data);
  made.set(key, known);
  return known;
}

function around(data: JsonObject | null): JsonObject {
  return {
    type: 'object',
    required: ['error'],
    properties: {
      intentId: { type: 'string' },
      status: { type: 'string' },
      outcome: { enum: ['executed', 'not_executed', 'unknown', 'undecided'] },
      replayed: { type: 'boolean' },
      data: data === null ? {} : { anyOf: [moved(data) as JsonObject, { type: 'null' }] },
      summary: { type: ['string', 'null'] },
      error: { type: ['object', 'null'] },
    },
  };
}

/**
 * Keywords that the data satisfied when it came and need not satisfy as it is shown: with texts hidden and lists shortened. A
 * client that checks them would take a success for a failure.
 */
const unkept: ReadonlySet<string> = new Set([
  ...['pattern', 'format', 'minLength', 'maxLength', 'contentEncoding', 'contentMediaType'],
  ...['minItems', 'contains', 'minContains', 'maxContains', 'uniqueItems', 'prefixItems'],
]);
/** Keywords whose value is a map from names that somebody has chosen. */
const named: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);

/**
 * As it is shown, and elsewhere: references by path are from the root of a schema, and this one is no root any more. Those to
 * an anchor (`#name`) hold anywhere in a document.
 */
function moved(schema: Json, areNames = false): Json {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((each) => moved(each));
  return Object.fromEntries(
    Object.entries(schema as JsonObject)
      .filter(([name]) => areNames || !unkept.has(name))
      .map(([name, value]) =>
        !areNames && name === '$ref' && typeof value === 'string' && /^#(?:\/|$)/.test(value)
          ? [name, `#/properties/data/anyOf/0${value.slice(1)}`]
          : [name, moved(value, !areNames && named.has(name))],
      ),
  );
}
