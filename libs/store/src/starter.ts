import type { In } from '@intendant/intent';

/**
 * Starts first attempts in the transaction that records their intents, where the process that records also dispatches:
 * one commit and one way over the bus less. Nothing is sent before that transaction is committed.
 */
export interface Starter {
  /** Takes a free slot for the first attempt; null when there is none: the intent is announced then, as usual. */
  reserve(intent: In<'authorized'>): Reservation | null;
}

export interface Reservation {
  readonly attemptId: string;
  /** The attempt is committed and this process's to send. */
  started(intent: In<'dispatching'>): void;
  /** It is not, or nobody knows; what became of it shows when its lease ends. */
  release(): void;
}
