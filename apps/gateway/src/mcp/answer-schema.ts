import type { Json, JsonObject } from '@intendant/intent';
import { shownSchema } from './shown-schema.js';

const made = new WeakMap<JsonObject, JsonObject>();
const anything: JsonObject = {};
const place = '/properties/data/anyOf/0';

/** The schema of the result (docs/agents-mcp.md) around that of the tool's own data. */
export function answerSchema(data: JsonObject | null): JsonObject {
  const key = data ?? anything;
  const known = made.get(key) ?? around(data === null ? null : shownSchema(data, place));
  made.set(key, known);
  return known;
}

function around(data: Json): JsonObject {
  return {
    type: 'object',
    required: ['error'],
    properties: {
      intentId: { type: 'string' },
      status: { type: 'string' },
      outcome: { enum: ['executed', 'not_executed', 'unknown', 'undecided'] },
      replayed: { type: 'boolean' },
      data: data === null ? {} : { anyOf: [data, { type: 'null' }] },
      summary: { type: ['string', 'null'] },
      error: { type: ['object', 'null'] },
    },
  };
}
