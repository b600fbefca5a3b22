import { type Identifier, type ToolDefinition, toolNamePattern } from '@intendant/contracts';
import type { Json, JsonObject } from '@intendant/intent';
import { appendPointer, pointerSteps } from './json-pointer.js';
import { subschemas } from './subschemas.js';
import { nearest } from './suggest.js';
import { isObject, type Path, type ToolSource } from './tool-source.js';

/** Says in the schema of an argument which results its value has to come from. */
export const fromResult = 'x-from-result';

interface Annotated {
  /** Where the annotation stands, below the schema. */
  readonly path: Path;
  /** JSON Pointer into the arguments; null: it stands where no one place of the arguments is meant. */
  readonly pointer: string | null;
  readonly value: unknown;
  /** Types of what is annotated, and whether everything on the way there is an object or a list and nothing else. */
  readonly types: readonly unknown[];
  readonly exact: boolean;
}

/** Every annotation of a schema. */
function* annotated(schema: JsonObject, path: Path, pointer: string | null, exact = true): Generator<Annotated> {
  const types = typesOf(schema);
  if (Object.hasOwn(schema, fromResult)) {
    yield { path: [...path, fromResult], pointer, value: schema[fromResult], types, exact };
  }
  for (const { schema: inner, steps } of subschemas(schema)) {
    const [keyword, name = ''] = steps;
    const below = keyword === 'properties' ? name : keyword === 'items' ? '*' : null;
    const at = pointer === null || below === null ? null : appendPointer(pointer, below);
    const only = types.length === 1 && types[0] === (keyword === 'items' ? 'array' : 'object');
    yield* annotated(inner, [...path, ...steps], at, exact && only);
  }
}

function typesOf({ type }: JsonObject): unknown[] {
  return Array.isArray(type) ? type : type === undefined ? [] : [type];
}

/** Types of what can name something. */
const naming: ReadonlySet<unknown> = new Set(['string', 'integer', 'number', 'null']);

/** Checks the annotations of the schemas, as far as one file can tell. */
export function checkIdentifiers(source: ToolSource): void {
  const output = source.object('output');
  for (const { path } of output ? annotated(output, ['output'], '') : []) {
    source.report(path, 'says where an argument comes from; must be in input');
  }
  const input = source.object('input');
  for (const { path, pointer, value, types, exact } of input ? annotated(input, ['input'], '') : []) {
    if (pointer === null || pointer === '') {
      source.report(
        path,
        'is not followed here; must stand in a property or the items of a list, without anyOf or $ref',
      );
    } else if (!exact || types.length === 0 || !types.every((type) => naming.has(type))) {
      source.report(path, 'must be of type string, integer or number, in objects and lists that may be nothing else');
    }
    for (const text of listed(value)) {
      if (splitSource(text) === null) source.report(path, 'must be like orders.get#/id, or a list of such');
    }
  }
}

/** The identifiers of a file that was checked. */
export function readIdentifiers(source: ToolSource): Identifier[] {
  const input = source.object('input') ?? {};
  return [...annotated(input, [], '')].map(({ pointer, value }) => ({
    pointer: pointer ?? '',
    sources: listed(value).map(String),
  }));
}

/** Reports sources that no loaded tool is, or that a tool's output does not have. */
export function checkSources(source: ToolSource, tools: ReadonlyMap<string, ToolDefinition>): void {
  for (const { path, value } of annotated(source.object('input') ?? {}, ['input'], '')) {
    for (const text of listed(value)) {
      const { tool, pointer } = splitSource(text) ?? { tool: '', pointer: '' };
      const mistake = missing(tools, tool, pointer);
      if (mistake) source.report(path, mistake);
    }
  }
}

/** Places in the results of a tool whose values other tools take as identifiers. */
export function yieldsFor(tool: ToolDefinition, tools: readonly ToolDefinition[]): string[] {
  const sources = tools.flatMap(({ identifiers }) => identifiers.flatMap((each) => each.sources)).map(splitSource);
  const pointers = sources.flatMap((each) => (each?.tool === tool.name ? [each.pointer] : []));
  return [...new Set(pointers)].sort();
}

/** The schema as a model may see it: which tools there are beside its own is none of its business. */
export function withoutSources(schema: JsonObject): JsonObject {
  const { [fromResult]: _, ...rest } = schema;
  const plain: Record<string, unknown> = structuredClone(rest) as Record<string, unknown>;
  for (const { path } of annotated(plain as JsonObject, [], '')) {
    const holder = path.slice(0, -1).reduce<Record<string, unknown>>((at, step) => at[step] as never, plain);
    delete holder[fromResult];
  }
  return plain as JsonObject;
}

function listed(value: unknown): unknown[] {
  return Array.isArray(value) && value.length > 0 ? value : [value];
}

function splitSource(text: unknown): { tool: string; pointer: string } | null {
  const [, tool = '', pointer = ''] = typeof text === 'string' ? (/^([^#]+)#((?:\/[^/]+)+)$/.exec(text) ?? []) : [];
  return toolNamePattern.test(tool) ? { tool, pointer } : null;
}

function missing(tools: ReadonlyMap<string, ToolDefinition>, name: string, pointer: string): string | null {
  const tool = tools.get(name);
  if (!tool) {
    const near = nearest(name, [...tools.keys()]);
    return `there is no tool ${name}; ${near ? `did you mean ${near}?` : 'must name a tool beside this file'}`;
  }
  if (tool.redaction?.pointers.some((hidden) => covers(hidden, pointer))) {
    return `${name} shows ${pointer} to nobody by result.redact; must be a place that it shows`;
  }
  let schema: Json = tool.output ?? {};
  for (const step of pointerSteps(pointer)) {
    // What the schema leaves open may be there.
    if (!isObject(schema) || !('properties' in schema || 'items' in schema)) return null;
    const properties: JsonObject = isObject(schema['properties']) ? schema['properties'] : {};
    const next: Json | undefined = step === '*' ? schema['items'] : properties[step];
    if (next === undefined) return `the output of ${name} has no ${pointer}; must be one of its properties`;
    schema = next;
  }
  return null;
}

/** Whether a place is the hidden one, or in it; `*` stands for each item. */
function covers(hidden: string, pointer: string): boolean {
  const steps = pointerSteps(pointer);
  return pointerSteps(hidden).every(
    (step, at) => step === steps[at] || (step === '*' && /^(?:\d+|\*)$/.test(steps[at] ?? '')),
  );
}
