import { readsInput } from './check-expression.js';
import type { ToolSource } from './tool-source.js';

const readings = [
  ['lookup', 'present'],
  ['lookup', 'receipt'],
  ['lookup', 'count'],
  ['poll', 'executed'],
  ['poll', 'receipt'],
] as const;

/** An expression that does not look at the answer says the same about every effect, and so about none. */
export function checkConstant(source: ToolSource): void {
  for (const [part, field] of readings) {
    const text = source.text('upstream', part, field);
    if (text === null || readsInput(text)) continue;
    source.report(
      ['upstream', part, field],
      'does not look at the answer, and says the same whatever that is; must name a field of it, such as data.id',
    );
  }
}
