import type { IntentCloudEvent } from '@intendant/contracts';

/** A public event on its way to people: as it was published, and where to look. */
export type Notice = IntentCloudEvent & { readonly link?: string };

export type Sent =
  | { readonly kind: 'delivered' }
  /** There is nothing to tell any more. */
  | { readonly kind: 'outdated' }
  /** Trying again may help. */
  | { readonly kind: 'failed'; readonly why: string; readonly retryAfterMs: number | null }
  /** The destination will never take this one. */
  | { readonly kind: 'refused'; readonly why: string };

/** One destination. Each has a place of its own in the stream, so that none waits for another. */
export interface Channel {
  /** In logs and metrics, and part of the name of its consumer: `webhook-ops`, `slack-acme`. */
  readonly name: string;
  /** Of the events it is told. */
  readonly subjects: readonly string[];
  /** Sends once. Never rejects for what the destination does; what rejects is tried again, too. */
  send(notice: Notice): Promise<Sent>;
}

/** Last word of the type of an event, such as `dead_lettered`. */
export function eventName({ type }: Pick<IntentCloudEvent, 'type'>): string {
  return type.slice(type.lastIndexOf('.') + 1);
}
