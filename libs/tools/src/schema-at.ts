import type { Json, JsonObject } from '@intendant/intent';
import { nearest } from './suggest.js';
import { isObject } from './tool-source.js';

/**
 * Why the steps do not lead to a value of which the schema speaks; null when they do.
 *
 * @param of name of the schema, `input` or `output`.
 */
export function astray(root: JsonObject, steps: readonly string[], of: string): string | null {
  let schema = root;
  for (const [depth, step] of steps.entries()) {
    const here = steps.slice(0, depth).join('.');
    const properties = propertiesOf(schema);
    if (schema['type'] === 'array') {
      if (step !== '*') return `${here || of} is a list; must go on with /* for each of its items`;
    } else if (schema['type'] !== 'object') {
      return `${here || of} need not be an object or a list; must have type: object or type: array in ${of}`;
    }
    const inner = schema['type'] === 'array' ? schema['items'] : properties.get(step);
    if (!isObject(inner)) {
      const near = nearest(step, [...properties.keys()]);
      const name = steps.slice(0, depth + 1).join('.');
      return `${of} has no property ${name}; ${near ? `did you mean ${near}?` : 'must name one that it has'}`;
    }
    schema = inner;
  }
  return null;
}

/** The schema of the value that the steps lead to; null where they lead nowhere. */
export function schemaAt(root: JsonObject, steps: readonly string[]): JsonObject | null {
  let schema: JsonObject = root;
  for (const step of steps) {
    const inner = schema['type'] === 'array' ? schema['items'] : propertiesOf(schema).get(step);
    if (!isObject(inner)) return null;
    schema = inner;
  }
  return schema;
}

function propertiesOf(schema: JsonObject): ReadonlyMap<string, Json> {
  return new Map(isObject(schema['properties']) ? Object.entries(schema['properties']) : []);
}
