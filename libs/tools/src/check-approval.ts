import { viewParts } from '@intendant/contracts';
import { parseDuration } from './duration.js';
import { appendPointer, pointerSteps } from './json-pointer.js';
import { fieldsOf } from './placeholders.js';
import { astray } from './schema-at.js';
import type { ToolSource } from './tool-source.js';

const shortestMs = 1000;

/** Checks what approvers are shown: fields that there are, and none that nobody is to see. */
export function checkApproval(source: ToolSource): void {
  for (const field of ['view', 'impact', 'undo']) {
    if (source.text('approval', field)?.trim() === '')
      source.report(['approval', field], 'is blank; must say something, or be left out');
  }
  for (const field of ['view', 'impact']) {
    const text = source.text('approval', field);
    const mistake = text === null ? null : templateMistake(source, text);
    if (mistake) source.report(['approval', field], mistake);
  }
  if (source.text('approval', 'undo')?.includes('{{'))
    source.report(['approval', 'undo'], 'is shown as it stands; must be without {{…}}');
  const ttl = source.text('approval', 'ttl');
  const ttlMs = ttl === null ? null : parseDuration(ttl);
  // Zero is refused with all other windows that are zero.
  if (ttlMs !== null && ttlMs > 0 && ttlMs < shortestMs)
    source.report(['approval', 'ttl'], 'too short for a person; must be 1s or longer');
  checkRedact(source);
}

function templateMistake(source: ToolSource, template: string): string | null {
  const parts = viewParts(template);
  if (parts === null) return 'unbalanced braces; must be like {{order_id}}';
  const { known } = fieldsOf(source);
  const hidden = redacted(source);
  for (const part of parts) {
    if (!('field' in part)) continue;
    const { field } = part;
    if (hidden.includes(appendPointer('', field))) {
      return `{{${field}}} is shown to nobody by approval.redact; must be without it`;
    }
    if (known.includes(field)) continue;
    const [first = '', second = ''] = field.split('.');
    if (first === 'args' && known.includes(second)) return `{{${field}}} is a path; must be {{${second}}}`;
    if (known.includes(first)) return `{{${field}}} is a path; must be a whole field, such as {{${first}}}`;
    const right = known.map((each) => `{{${each}}}`).join(', ');
    const choice = right === '' ? 'there is none, so it must be without' : `must be one of ${right}`;
    return `{{${field}}} is neither an argument nor an injected field; ${choice}`;
  }
  return null;
}

function checkRedact(source: ToolSource): void {
  const input = source.object('input');
  if (input === null) return;
  for (const [index, pointer] of redacted(source).entries()) {
    const mistake = astray(input, pointerSteps(pointer), 'input');
    if (mistake) source.report(['approval', 'redact', `${index}`], mistake);
  }
}

function redacted(source: ToolSource): string[] {
  const value = source.value('approval', 'redact');
  return Array.isArray(value) ? value.map(String) : [];
}
