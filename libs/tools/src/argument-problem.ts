import type { Json } from '@intendant/intent';

/** One thing wrong with what a caller sent; a list of them rides in `details.problems` of the error. */
export type ArgumentProblem = {
  /** Where, as a JSON Pointer (RFC 6901); empty for the whole document. */
  readonly pointer: string;
  /** What would be right, as a phrase that follows "expected". */
  readonly expected: string;
  /** The legal values or names, where there is a closed list of them. */
  readonly allowed?: readonly Json[];
  /** What was found there instead. */
  readonly got: string;
};
