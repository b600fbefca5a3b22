import { Refusal } from '@intendant/contracts';

/** Id of the intent that the same call, without a step, was over with before; null where the failure is another one. */
export function overBefore(failure: unknown): string | null {
  const after = failure instanceof Refusal && failure.error.code === 'conflict' ? failure.error.details['after'] : null;
  return typeof after === 'string' ? after : null;
}

/**
 * Submits for somebody who waits. Without a step, a call that is over and only read, or did nothing, is made again; it says
 * after which one, so that a request that is heard twice, or late, makes nothing again (docs/decisions/0028).
 *
 * @param isGone nobody waits any more
 */
export async function callAgain<T>(
  isGone: () => boolean,
  submit: (headers: { readonly 'Intendant-After': string }) => Promise<T>,
): Promise<T> {
  try {
    return await submit({ 'Intendant-After': 'none' });
  } catch (failure) {
    const after = overBefore(failure);
    if (after === null || isGone()) throw failure;
    return submit({ 'Intendant-After': after });
  }
}
