import { mostWork } from './limits.js';

/**
 * Work that is left to the evaluation under way. Evaluation is synchronous and never begins inside another one, so there is
 * one of them, and nothing that an expression calls has to be handed it.
 */
let left = 0;

export function beginWork(): void {
  left = mostWork;
}

/** True once more was asked for than there was, even if an `||` of the expression has swallowed the error. */
export function workExhausted(): boolean {
  return left < 0;
}

/** Pays for work before it is done. @throws Error when too little is left. */
export function charge(units: number): void {
  left -= units;
  if (left < 0) throw new Error(tooMuchWork);
}

export const tooMuchWork = 'takes too much work: long lists in loops, long texts, or large patterns';
