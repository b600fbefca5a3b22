import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, call } from '../agents/http/call.js';
import type { TimelineEvent } from './timeline-event.js';

interface Page {
  readonly items: readonly { readonly intentId: string }[];
  readonly nextCursor: string | null;
}

export interface Resolution {
  readonly outcome: 'executed' | 'not_executed';
  readonly externalId: string;
  readonly evidence: string;
}

/** What a person is asked. */
export interface Card {
  readonly id: string;
  readonly digest: string;
  readonly view: string;
  readonly impact: string | null;
  readonly preview: { readonly kind: string } | null;
}

const previewMs = 5_000;
const pollMs = 50;

/** Somebody with the operator key: sees everything of the tenant and settles what nobody else can. */
export class Operator {
  constructor(
    private readonly url: string,
    private readonly key: string,
  ) {}

  /** Ids of a run's intents, oldest first. @throws NoAnswer, Error */
  async intentsOf(runId: string): Promise<string[]> {
    const ids: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const more: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const page: Page = await this.#get(`/v1/intents?runId=${runId}&limit=200${more}`);
      ids.push(...page.items.map(({ intentId }) => intentId));
      cursor = page.nextCursor;
    }
    return ids.reverse();
  }

  /** Everything that happened to an intent, in order. @throws NoAnswer, Error */
  async events(intentId: string): Promise<TimelineEvent[]> {
    const { events } = await this.#get<{ events: TimelineEvent[] }>(`/v1/intents/${intentId}/events`);
    return events;
  }

  /** Ids of the newest intents that wait for a person. */
  async deadLetters(): Promise<string[]> {
    const page = await this.#get<{ intents: readonly { intentId: string }[] }>('/v1/dead-letters?limit=50');
    return page.intents.map(({ intentId }) => intentId);
  }

  async resolve(intentId: string, resolution: Resolution): Promise<void> {
    const path = `/v1/intents/${intentId}/resolve`;
    this.#expectOk(path, await call(this.url + path, { method: 'POST', credential: this.key, body: resolution }));
  }

  /** What is asked about an intent, once the upstream has said what would change. @throws Error when it does not in time */
  async card(intentId: string): Promise<Card> {
    const deadline = performance.now() + previewMs;
    for (;;) {
      const card = await this.#get<Card>(`/v1/approvals/${intentId}`);
      if (card.preview?.kind !== 'asked') return card;
      if (performance.now() > deadline) throw new Error(`the preview of intent ${intentId} does not come`);
      await delay(pollMs);
    }
  }

  async approve({ id, digest }: Card): Promise<void> {
    const path = `/v1/approvals/${id}/approve`;
    this.#expectOk(path, await call(this.url + path, { method: 'POST', credential: this.key, body: { digest } }));
  }

  async refuse(intentId: string, reason: string): Promise<void> {
    const path = `/v1/approvals/${intentId}/refuse`;
    this.#expectOk(path, await call(this.url + path, { method: 'POST', credential: this.key, body: { reason } }));
  }

  async #get<T>(path: string): Promise<T> {
    return this.#expectOk(path, await call<T>(this.url + path, { credential: this.key }));
  }

  #expectOk<T>(path: string, { status, body }: Answer<T>): T {
    if (status === 200) return body;
    throw new Error(`${path} answered ${status} ${JSON.stringify(body)}`);
  }
}
