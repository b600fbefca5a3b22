import { setTimeout as delay } from 'node:timers/promises';
import { proposalOf, recordOf } from './intent-record.js';
import type { Narrator } from './narrator.js';
import type { Operator } from './operator.js';
import type { TimelineEvent } from './timeline-event.js';

const pollMs = 60;
/** Events that nothing follows without a person. */
const last = ['committed', 'failed', 'denied', 'cancelled', 'expired'];

/** Follows every intent of one run with an operator's eyes and prints its events as they come in. */
export class RunWatch {
  readonly #timelines = new Map<string, readonly TimelineEvent[]>();
  readonly #stopped = new AbortController();
  #problem = '';
  #following: Promise<void> = Promise.resolve();
  #turn: Promise<void> = Promise.resolve();

  constructor(
    private readonly operator: Operator,
    private readonly narrator: Narrator,
    private readonly runId: string,
  ) {}

  start(): void {
    this.#following = this.#follow();
  }

  /** Prints what happened until now; resolves also when the service is away. */
  catchUp(): Promise<void> {
    // One look after the other: two at once would print the same event twice.
    this.#turn = this.#turn.then(() => this.#look());
    return this.#turn;
  }

  /** Resolves when nothing is printed any more. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#following;
  }

  /**
   * The timeline of a step as soon as it has an event of that type. Throws after `timeoutMs`, or when the step is
   * settled without such an event.
   */
  async until(stepId: string, type: string, timeoutMs: number): Promise<readonly TimelineEvent[]> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const timeline = this.timelines().find((events) => proposalOf(events).stepId === stepId);
      if (timeline?.some((event) => event.type === type)) return timeline;
      const seen = timeline?.map((event) => event.type) ?? [];
      if (last.includes(seen.at(-1) ?? '') || performance.now() > deadline) {
        const found = `seen within ${timeoutMs / 1_000} s: ${seen.join(', ') || 'nothing'}`;
        throw new Error(`Step ${stepId} has no event ${type}; ${found}. ${this.#problem}`.trim());
      }
      await delay(pollMs);
    }
  }

  /** What was seen so far, one timeline per intent, oldest intent first. */
  timelines(): (readonly TimelineEvent[])[] {
    return [...this.#timelines.values()];
  }

  async #follow(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      await this.catchUp();
      await delay(pollMs, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
    }
  }

  async #look(): Promise<void> {
    try {
      await this.#readNews();
      this.#problem = '';
    } catch (error) {
      // A service that is away is part of the story; who waits for something says what was last wrong.
      this.#problem = error instanceof Error ? error.message : String(error);
    }
  }

  async #readNews(): Promise<void> {
    for (const intentId of await this.operator.intentsOf(this.runId)) {
      const seen = this.#timelines.get(intentId) ?? [];
      if (last.includes(seen.at(-1)?.type ?? '')) continue;
      const events = await this.operator.events(intentId);
      this.#print(events.slice(seen.length), events);
      this.#timelines.set(intentId, events);
    }
  }

  #print(news: readonly TimelineEvent[], timeline: readonly TimelineEvent[]): void {
    const { stepId } = recordOf(timeline);
    const began = Date.parse(timeline[0]?.at ?? '');
    for (const event of news) this.narrator.event(stepId, (Date.parse(event.at) - began) / 1_000, event);
  }
}
