import type { CallOptions } from './adapter.js';

/**
 * Asks whether an attempt may start, right before it does.
 *
 * @param what would happen now, such as "the first byte"
 * @returns why it may not, or null
 */
export function refusalToStart({ mayStart }: CallOptions, what: string): string | null {
  try {
    return mayStart() ? null : `the lease was over before ${what}`;
  } catch (error) {
    return `the lease could not be checked: ${String(error)}`;
  }
}

/** Tells that an attempt has started. Only a notice: it is under way, and an exception here would end the process. */
export function tellSent({ onSend }: CallOptions): void {
  try {
    onSend?.();
  } catch {
    // Its own business.
  }
}
