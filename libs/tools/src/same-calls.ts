import type { BusinessKey, Similar } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import { pointerSteps } from './json-pointer.js';
import { nearest } from './suggest.js';
import { isObject, type ToolSource } from './tool-source.js';

/** Checks that every call has the fields that it is compared by: one without could not be told from any other. */
export function checkSameness(source: ToolSource): void {
  for (const part of ['businessKey', 'similar']) {
    const { fields } = source.object(part) ?? {};
    const input = source.object('input');
    if (!Array.isArray(fields) || input === null) continue;
    for (const [index, pointer] of fields.entries()) {
      const mistake = missing(input, pointerSteps(String(pointer)));
      if (mistake) source.report([part, 'fields', `${index}`], mistake);
    }
    if (source.duration([part, 'window'], '1s') === 0) source.report([part, 'window'], 'is zero; must be longer');
  }
}

/** The business key of a file that was checked. */
export function readBusinessKey(source: ToolSource): BusinessKey | null {
  const { fields } = source.object('businessKey') ?? {};
  if (!Array.isArray(fields)) return null;
  return { fields: fields.map(String), windowMs: source.duration(['businessKey', 'window'], '1s') };
}

/** What a call looks like, of a file that was checked. */
export function readSimilar(source: ToolSource): Similar | null {
  const { fields, mode } = source.object('similar') ?? {};
  if (!Array.isArray(fields)) return null;
  const windowMs = source.duration(['similar', 'window'], '1s');
  return { fields: fields.map(String), windowMs, mode: mode === 'approve' ? 'approve' : 'shadow' };
}

/** Why a call may be without what the steps lead to; null when none may. */
function missing(input: JsonObject, steps: readonly string[]): string | null {
  let schema = input;
  for (const [depth, step] of steps.entries()) {
    const here = steps
      .slice(0, depth)
      .map((each) => `${each}.`)
      .join('');
    if (schema['type'] !== 'object')
      return `${here.slice(0, -1)} need not be an object; must have type: object in input`;
    const properties = isObject(schema['properties']) ? schema['properties'] : {};
    const inner = Object.hasOwn(properties, step) ? properties[step] : undefined;
    if (!isObject(inner)) {
      const near = nearest(step, Object.keys(properties));
      return `input has no property ${here}${step}; ${near ? `did you mean ${near}?` : 'must name one that is required'}`;
    }
    const { required } = schema;
    if (!Array.isArray(required) || !required.includes(step)) {
      return `${here}${step} may be left out of a call; must be among the required properties of input`;
    }
    schema = inner;
  }
  return null;
}
