import type { Json, JsonObject } from '@intendant/intent';

/**
 * Keywords that data satisfied when it came and need not satisfy as it is shown, with texts hidden and lists shortened; and
 * those that hold because others do not (`not`), which turn around when the others are let go.
 */
const unkept: ReadonlySet<string> = new Set([
  ...['pattern', 'format', 'minLength', 'maxLength', 'contentEncoding', 'contentMediaType', 'contentSchema'],
  ...['minItems', 'contains', 'minContains', 'maxContains', 'uniqueItems', 'minProperties', 'propertyNames'],
  ...['not', 'if', 'then', 'else', 'unevaluatedItems', 'unevaluatedProperties', '$schema'],
]);
/** Keywords whose value is data. */
const literal: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);
/** Keywords whose value is a map from names that somebody has chosen. */
const named: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'],
]);

/**
 * A schema that holds for whatever the schema of a tool's data holds for, also as it is shown: a client that checks a success
 * must never take it for a failure. References are from the root of a schema, and this one stands at `place`.
 *
 * @param place JSON Pointer to it, in the schema that it becomes a part of.
 */
export function shownSchema(schema: JsonObject, place: string): JsonObject {
  const shown = weaker(schema, place);
  return leadsSomewhere(shown, place) ? shown : {};
}

function weaker(schema: JsonObject, place: string): JsonObject {
  const { oneOf, ...kept } = Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword]) => !unkept.has(keyword))
      .map(([keyword, value]) => [keyword, weakerKeyword(keyword, value, place)]),
  );
  if (!isSmall(schema) && kept['type'] !== undefined) kept['type'] = withText(kept['type']);
  // A name that is hidden is none of those any more.
  if ('patternProperties' in kept) delete kept['additionalProperties'];
  if (oneOf === undefined) return kept as JsonObject;
  // Two branches may hold where one did.
  return 'anyOf' in kept
    ? ({ ...kept, allOf: [...((kept['allOf'] as Json[] | undefined) ?? []), { anyOf: oneOf }] } as JsonObject)
    : ({ ...kept, anyOf: oneOf } as JsonObject);
}

function weakerKeyword(keyword: string, value: Json, place: string): Json {
  if (literal.has(keyword)) return value;
  if (isReference(keyword, value)) return /^#(?:\/|$)/.test(value) ? `#${place}${value.slice(1)}` : value;
  if (Array.isArray(value)) return value.map((each: Json) => (isObject(each) ? weaker(each, place) : each));
  if (!isObject(value)) return value;
  if (!named.has(keyword)) return weaker(value, place);
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, isObject(each) ? weaker(each, place) : each]),
  );
}

/** No number that looks like that of a card fits. */
function isSmall({ maximum, exclusiveMaximum }: JsonObject): boolean {
  return [maximum, exclusiveMaximum].some((bound) => typeof bound === 'number' && bound <= 1e12);
}

/** A number that looks like that of a card is hidden, too. */
function withText(type: Json): Json {
  const types = [type].flat();
  const isNumber = types.includes('integer') || types.includes('number');
  return isNumber && !types.includes('string') ? [...types, 'string'] : type;
}

/** False where a reference leads to what was let go, or where names of its own make it unclear whereto it leads. */
function leadsSomewhere(schema: JsonObject, place: string): boolean {
  const anchors = new Set<Json>();
  const references: string[] = [];
  let isNamed = false;
  visit(schema, (keyword, value) => {
    if (keyword === '$id') isNamed = true;
    if (keyword === '$anchor' || keyword === '$dynamicAnchor') anchors.add(value);
    if (isReference(keyword, value)) references.push(value);
  });
  if (isNamed) return false;
  return references.every((reference) =>
    reference.startsWith(`#${place}`)
      ? isThere(schema, reference.slice(place.length + 1))
      : anchors.has(reference.slice(1)),
  );
}

function visit(schema: JsonObject, tell: (keyword: string, value: Json) => void): void {
  for (const [keyword, value] of Object.entries(schema)) {
    tell(keyword, value);
    if (literal.has(keyword) || !isObject(value)) continue;
    const inner = Array.isArray(value) || named.has(keyword) ? Object.values(value) : [value];
    for (const each of inner) if (isObject(each)) visit(each, tell);
  }
}

function isThere(schema: JsonObject, pointer: string): boolean {
  let here: Json | undefined = schema;
  for (const step of decodeURIComponent(pointer).split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    here = isObject(here) && Object.hasOwn(here, name) ? (here[name] as Json) : undefined;
  }
  return here !== undefined;
}

function isReference(keyword: string, value: Json): value is string {
  return (keyword === '$ref' || keyword === '$dynamicRef') && typeof value === 'string';
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null;
}
