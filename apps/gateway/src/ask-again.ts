import { setTimeout as pause } from 'node:timers/promises';
import type { Bus } from '@intendant/bus';
import { Refusal } from '@intendant/contracts';
import { ask, type Question } from './ask.js';
import { overBefore } from './call-again.js';

/** How long one answer is waited for, in ms; it usually takes a few. */
const answerMs = 5_000;
const firstPauseMs = 100;
const longestPauseMs = 2_000;

/** Nobody has said whether anything was recorded. */
export class Unclear extends Error {}

/**
 * Submits, and where no answer comes, or one that leaves open whether anything was recorded, submits the same again: it has
 * the same identity, so it is one call however often it is heard.
 *
 * @param withinMs for how long, in ms
 * @param signal of a caller who waits no longer
 * @throws Refusal when nothing was recorded
 * @throws Unclear when it may have been, or may be yet: who has not answered can still be at it
 */
export async function submitUntilClear<T>(
  bus: Bus,
  subject: string,
  question: Omit<Question, 'timeoutMs'>,
  withinMs: number,
  signal: AbortSignal,
): Promise<T> {
  const until = performance.now() + withinMs;
  let mayBeHeard = false;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      const timeoutMs = Math.max(1, Math.min(answerMs, until - performance.now()));
      return await ask<T>(bus, subject, { ...question, timeoutMs });
    } catch (failure) {
      // A call that was over before is not made by whoever is still at it.
      if (overBefore(failure) !== null || (!mayBeHeard && isClear(failure))) throw failure;
      mayBeHeard ||= !isUnheard(failure);
      if (signal.aborted || performance.now() + pauseMs >= until) throw mayBeHeard ? new Unclear() : failure;
    }
    await pause(pauseMs);
  }
}

/** It says that nothing was recorded, and why. */
function isClear(failure: unknown): boolean {
  return failure instanceof Refusal && failure.error.code !== 'unavailable' && failure.error.code !== 'internal';
}

function isUnheard(failure: unknown): boolean {
  return failure instanceof Refusal && failure.error.details['recorded'] === false;
}
