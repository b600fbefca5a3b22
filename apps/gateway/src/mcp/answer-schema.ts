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

/** References are from the root of a schema, and this one is no root any more. */
function moved(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(moved);
  return Object.fromEntries(
    Object.entries(schema as JsonObject).map(([name, value]) =>
      name === '$ref' && typeof value === 'string' && value.startsWith('#')
        ? [name, `#/properties/data/anyOf/0${value.slice(1)}`]
        : [name, moved(value)],
    ),
  );
}
