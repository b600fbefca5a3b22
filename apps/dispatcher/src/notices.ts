import { type OutboxMessage, progressEvent } from '@intendant/contracts';
import { counter, monotonic, wallClock } from '@intendant/runtime';
import type { ToolRegistry } from '@intendant/tools';
import type { OpenAttempt } from './attempts.js';

const notices = counter({
  name: 'intendant_notices_total',
  help: 'Attempts that stayed open for longer than the notice limit of their tool.',
  labels: ['tool'],
});

const nothing = () => {};

/** Tells whoever listens, once per attempt, that it is still being worked on. */
export class Notices {
  constructor(
    private readonly tools: ToolRegistry,
    /** May fail or lose the message; nothing depends on it. */
    private readonly publish: (message: OutboxMessage) => void,
  ) {}

  /** Watches an attempt from now on; the result ends that, and has to be called when its verdict is there. */
  watch({ intent }: OpenAttempt): () => void {
    const { tool } = intent.proposal;
    const noticeMs = this.tools.get(tool)?.limits.noticeMs ?? null;
    // After its lease nobody works on it; and a timer cannot be set for months.
    if (noticeMs === null || noticeMs >= intent.proposal.terms.leaseMs) return nothing;
    const since = monotonic();
    const timer = setTimeout(() => {
      notices.labels(tool).inc();
      this.publish(progressEvent(intent, monotonic() - since, wallClock()));
    }, noticeMs);
    return () => clearTimeout(timer);
  }
}
