/** One of the processes a round is made of, at its end. */
export interface ProcessEntry {
  /** `dispatcher/2`. */
  readonly name: string;
  readonly expected: 'running' | 'stopped';
  readonly found: 'running' | 'stopped';
  /** How often it ended without being told to. */
  readonly crashes: number;
  /** Lines of its log at level error or above, at most twenty. */
  readonly errors: readonly string[];
}
