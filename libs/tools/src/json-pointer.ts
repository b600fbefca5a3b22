/** One step of a path into a JSON document: a property name or an array index. */
export type Step = string | number;

/** Appends one step to a JSON Pointer (RFC 6901). */
export function appendPointer(pointer: string, step: Step): string {
  if (typeof step === 'number') return `${pointer}/${step}`;
  return `${pointer}/${step.includes('~') || step.includes('/') ? step.replaceAll('~', '~0').replaceAll('/', '~1') : step}`;
}

/** The steps of a JSON Pointer; indexes stay strings. */
export function pointerSteps(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}
