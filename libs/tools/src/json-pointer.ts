export { pointerSteps } from '@intendant/contracts';

/** One step of a path into a JSON document: a property name or an array index. */
export type Step = string | number;

/** Appends one step to a JSON Pointer (RFC 6901). */
export function appendPointer(pointer: string, step: Step): string {
  if (typeof step === 'number') return `${pointer}/${step}`;
  return `${pointer}/${step.includes('~') || step.includes('/') ? step.replaceAll('~', '~0').replaceAll('/', '~1') : step}`;
}
