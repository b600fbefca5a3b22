import type { JsonObject } from '@intendant/intent';
import { subschemas } from './subschemas.js';
import type { Path, ToolSource } from './tool-source.js';

/** Lower and upper bounds of one thing; `apart`: they may not be equal either. */
const bounds = [
  { low: 'minimum', high: 'maximum', apart: false },
  { low: 'minimum', high: 'exclusiveMaximum', apart: true },
  { low: 'exclusiveMinimum', high: 'maximum', apart: true },
  { low: 'exclusiveMinimum', high: 'exclusiveMaximum', apart: true },
  { low: 'minLength', high: 'maxLength', apart: false },
  { low: 'minItems', high: 'maxItems', apart: false },
  { low: 'minProperties', high: 'maxProperties', apart: false },
  { low: 'minContains', high: 'maxContains', apart: false },
] as const;

/** Refuses bounds between which there is nothing: no call could ever be right. */
export function checkBounds(source: ToolSource, path: Path, schema: JsonObject): void {
  for (const { low, high, apart } of bounds) {
    const least = schema[low];
    const most = schema[high];
    if (typeof least !== 'number' || typeof most !== 'number') continue;
    if (least > most || (apart && least === most)) {
      source.report([...path, low], `is ${least} and ${high} is ${most}, so that nothing fits; must be below it`);
    }
  }
  for (const inner of subschemas(schema)) checkBounds(source, [...path, ...inner.steps], inner.schema);
}
