import { type Commit, type OutboxMessage, type Ring, readRing, subjects } from '@intendant/contracts';
import type { PublishedEvent } from '../history/bus.js';

/** Something that dispatchers hear of, in any order, more than once, or never where it is only a hint. */
export interface Bell {
  readonly what: 'hint' | 'doorbell' | 'cancel';
  readonly ring: Ring;
  readonly ids: readonly string[];
  /** How often it may still be heard. */
  left: number;
  /** A doorbell that somebody has dealt with, or a hint, need not be heard again. */
  done: boolean;
}

/** How often one message is heard at most while a schedule runs. */
const mostDeliveries = 3;

/** The bus: it keeps what is published, and gives it to whoever is chosen. */
export class Bells {
  readonly list: Bell[] = [];
  readonly published = new Map<string, PublishedEvent>();

  hint(commit: Commit): void {
    if (commit.dispatch.length > 0) this.add('hint', { intents: commit.dispatch }, []);
    if (commit.cancel.length > 0) this.add('cancel', { intents: [] }, commit.cancel);
  }

  /** What a relay publishes; the same message once more is known by its id, as JetStream does. */
  take(messages: readonly OutboxMessage[]): ReadonlySet<string> {
    for (const { msgId, subject, payload } of messages) {
      const before = this.published.get(msgId);
      if (before) {
        this.published.set(msgId, { ...before, heard: before.heard + 1 });
        continue;
      }
      const bytes = new TextEncoder().encode(payload);
      const ring = subject === subjects.dispatch ? readRing(bytes) : null;
      if (ring) this.add('doorbell', ring, []);
      const event = JSON.parse(payload) as { type?: string; subject?: string; data?: { version: number } };
      const { type = 'doorbell', subject: intentId = '', data } = event;
      this.published.set(msgId, {
        msgId,
        subject,
        type,
        intentId,
        version: data?.version ?? 0,
        stored: true,
        heard: 1,
      });
    }
    return new Set(messages.map(({ msgId }) => msgId));
  }

  private add(what: Bell['what'], ring: Ring, ids: readonly string[]): void {
    this.list.push({ what, ring, ids, left: mostDeliveries, done: what !== 'doorbell' });
  }
}
