/** How long the gateway waits for a client that is slow, in ms. */
export interface Patience {
  /** For all of a request, head and body, to arrive. */
  readonly requestMs: number;
  /** For a reader of a stream to take more of it. */
  readonly readingMs: number;
}

export const usualPatience: Patience = { requestMs: 30_000, readingMs: 30_000 };
