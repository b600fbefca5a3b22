import type { JsonObject } from '@intendant/intent';
import { pointerSteps } from './json-pointer.js';
import { isObject, type ToolSource } from './tool-source.js';

/** A receipt that is the same for every effect is no receipt: it fits whatever the lookup finds. */
export function checkReceipt(source: ToolSource): void {
  if (source.text('effect') === 'read' || source.object('upstream', 'lookup') === null) return;
  const output = source.object('output');
  const redact = source.value('result', 'redact');
  const pointers = Array.isArray(redact) ? redact.map(String).filter((pointer) => pointer.startsWith('/')) : [];
  const hidden = pointers.map(pointerSteps);
  if (output !== null && tellsApart(output, hidden)) return;
  if (output !== null && hidden.length > 0 && tellsApart(output, [])) {
    source.report(
      ['result', 'redact'],
      'hides what tells effects apart; must leave a required property of output that does, such as an id',
    );
    return;
  }
  const found = output === null ? 'missing, so that any answer is a receipt' : 'fits the same answer for every effect';
  source.report(
    ['output'],
    `${found}; must require a property that tells effects apart, such as an id, since a receipt that is the same for every effect is no receipt`,
  );
}

/** Values of these types repeat, so they name nothing. */
const repeating = new Set(['boolean', 'null']);

/** False only where it is certain that every effect may have the same value. */
function tellsApart(schema: JsonObject, hidden: readonly (readonly string[])[]): boolean {
  if (hidden.some(({ length }) => length === 0)) return false;
  if (schema['const'] !== undefined || schema['enum'] !== undefined) return false;
  if (looksFurther(schema)) return true;
  const { type, required, properties } = schema;
  const types = typeof type === 'string' ? [type] : Array.isArray(type) ? type.map(String) : [];
  if (types.length > 0 && types.every((each) => repeating.has(each))) return false;
  if (types.length > 0 && !types.includes('object')) return true;
  const parts = isObject(properties) ? properties : {};
  return (Array.isArray(required) ? required : []).some((name) => {
    const part = parts[String(name)];
    const below = hidden.flatMap(([first, ...rest]) => (first === String(name) ? [rest] : []));
    if (below.some(({ length }) => length === 0)) return false;
    return !isObject(part) || isUntyped(part) || tellsApart(part, below);
  });
}

/** What other schemas say about the same value is not followed. */
function looksFurther(schema: JsonObject): boolean {
  return ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'].some((name) => name in schema);
}

function isUntyped(schema: JsonObject): boolean {
  return ['type', 'const', 'enum', 'properties', 'required'].every((name) => !(name in schema));
}
