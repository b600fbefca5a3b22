export type Settled =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'aborted' };

export interface RunOptions {
  readonly signal: AbortSignal | undefined;
  /** How long it may take, in ms. */
  readonly callMs: number;
  readonly late?: ((value: unknown) => void) | undefined;
}

/**
 * Calls a function of a module and gives up at the limit or on abort: then its signal is aborted, and what it still
 * returns is told to `late`, if anybody wants to know. Never rejects.
 */
export function runFunction(
  work: (context: { readonly signal: AbortSignal }) => unknown,
  { signal, callMs, late }: RunOptions,
): Promise<Settled> {
  const controller = new AbortController();
  return new Promise((resolve) => {
    let over = false;
    const settle = (settled: Settled) => {
      over = true;
      clearTimeout(limit);
      signal?.removeEventListener('abort', onAbort);
      resolve(settled);
    };
    const giveUp = (kind: 'timeout' | 'aborted') => {
      settle({ kind });
      try {
        controller.abort(new Error(kind === 'timeout' ? `no answer within ${callMs} ms` : 'given up'));
      } catch {
        // A listener of the module that fails is its own business.
      }
    };
    const onAbort = () => giveUp('aborted');
    const limit = setTimeout(() => giveUp('timeout'), callMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    // Runs at once; what it throws becomes a rejection, also where it is a strange promise that throws.
    new Promise((made) => made(work({ signal: controller.signal }))).then(
      (value) => (over ? late?.(value) : settle({ kind: 'returned', value })),
      (error: unknown) => settle({ kind: 'threw', error }),
    );
  });
}
