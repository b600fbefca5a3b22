import type { JsonObject } from '@intendant/intent';
import { pointerSteps } from './json-pointer.js';
import { readList } from './read-result.js';
import { astray, schemaAt } from './schema-at.js';
import { nearest } from './suggest.js';
import { isObject, type Path, type ToolSource } from './tool-source.js';

/** What would forbid the text that stands for a value which was taken out. */
const narrowing = ['enum', 'const', 'pattern', 'format', 'minLength', 'maxLength'];

/** Checks how results are shown: places that there are, and none that is both hidden and needed. */
export function checkResult(source: ToolSource): void {
  const redact = source.value('result', 'redact');
  const pointers = Array.isArray(redact) ? redact.map(String) : [];
  for (const [index, pointer] of pointers.entries()) {
    const mistake = hiddenMistake(source, pointer);
    if (mistake) source.report(['result', 'redact', `${index}`], mistake);
  }
  if (source.object('result', 'list') !== null) checkList(source, pointers);
}

function hiddenMistake(source: ToolSource, pointer: string): string | null {
  const output = source.object('output');
  if (output === null) return 'is a place in output, which is missing; must be left out, or output must say what comes';
  const steps = pointerSteps(pointer);
  const wrong = astray(output, steps, 'output');
  if (wrong) return wrong;
  const schema = schemaAt(output, steps) ?? {};
  const types = [schema['type'] ?? 'string'].flat();
  if (!types.includes('string')) {
    return `is ${types.join(' or ')}; must be of type string in output, since the text [redacted] stands there then`;
  }
  const narrow = narrowing.find((keyword) => keyword in schema);
  return narrow === undefined
    ? null
    : `has ${narrow} in output; must be without it, since the text [redacted] stands there then`;
}

function checkList(source: ToolSource, hidden: readonly string[]): void {
  const path: Path = ['result', 'list'];
  const { at, total, limit, max, argument, narrow = [] } = readList(source);
  if (limit > max) source.report([...path, 'limit'], `${limit} is more than max (${max}); must be ${max} or less`);
  const output = source.object('output');
  if (output === null) {
    source.report([...path, 'at'], 'is a place in output, which is missing; output must say what comes');
  } else {
    const list = placeMistake(output, at, 'array', 'a list');
    if (list) source.report([...path, 'at'], list);
    const number = total === undefined ? null : placeMistake(output, total, 'integer', 'a whole number');
    if (number) source.report([...path, 'total'], number);
  }
  for (const [name, pointer] of Object.entries({ at, ...(total !== undefined && { total }) })) {
    if (hidden.some((each) => pointer === each || pointer.startsWith(`${each}/`))) {
      source.report([...path, name], `${pointer} is shown to nobody by result.redact; must be a place that is shown`);
    }
  }
  const known = Object.keys(propertiesOf(source.object('input')));
  for (const [field, name] of [
    ...(argument === undefined ? [] : [[['argument'], argument] as const]),
    ...narrow.map((each, index) => [['narrow', `${index}`], each] as const),
  ]) {
    if (known.includes(name)) continue;
    const near = nearest(name, known);
    source.report(
      [...path, ...field],
      `${name} is no argument; ${near ? `did you mean ${near}?` : 'must be a property of input'}`,
    );
  }
  if (argument === undefined || !known.includes(argument)) return;
  const asked = propertiesOf(source.object('input'))[argument];
  if (!isObject(asked)) return;
  const { type, minimum } = asked;
  if (type !== 'integer' || typeof minimum !== 'number' || minimum < 1) {
    source.report(
      [...path, 'argument'],
      `${argument} is a number of items; must be of type integer with a minimum of 1 or more in input`,
    );
  }
}

function placeMistake(output: JsonObject, pointer: string, type: string, what: string): string | null {
  const steps = pointerSteps(pointer);
  if (steps.includes('*')) return `${pointer} is no one place; must be without *`;
  const wrong = astray(output, steps, 'output');
  if (wrong) return wrong;
  const schema = schemaAt(output, steps) ?? {};
  return schema['type'] === type
    ? null
    : `${pointer || 'output'} need not be ${what}; must have type: ${type} in output`;
}

function propertiesOf(schema: JsonObject | null): JsonObject {
  const properties = schema?.['properties'];
  return isObject(properties) ? properties : {};
}
