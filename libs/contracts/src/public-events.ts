import type { EventType, In, Intent, IntentEvent } from '@intendant/intent';
import { doNotRepeat } from './open-summary.js';
import { type IntentResult, resultOf } from './result.js';
import { subjects } from './subjects.js';

/** Facts that people subscribe to; everything else stays in the log and is read over HTTP. */
const published = [
  'approval_requested',
  'denied',
  'outcome_unknown',
  'dead_lettered',
  'committed',
  'failed',
  'cancelled',
  'expired',
  'corrected',
] as const satisfies readonly EventType[];
const isPublished: ReadonlySet<EventType> = new Set<EventType>(published);

export type PublicEventName = (typeof published)[number] | 'progress';
/** Last words of the types of public events, `progress` included. */
export const publicEventNames: readonly PublicEventName[] = [...published, 'progress'];

/**
 * By this header a receiver knows the structured mode from the binary one
 * (https://github.com/cloudevents/spec/blob/main/cloudevents/bindings/nats-protocol-binding.md, section 3).
 */
export const eventHeaders = { 'Content-Type': 'application/cloudevents+json' } as const;

/** CloudEvents 1.0, structured mode (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md). */
export interface IntentCloudEvent {
  readonly specversion: '1.0';
  /** Same as the message id on the bus: `<intent id>-<version>`, or `<intent id>-progress-<attempt>`. */
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly tenant: string;
  readonly traceparent?: string;
  /** Only there for sandbox calls. */
  readonly sandbox?: true;
  readonly data: IntentResult & { readonly version: number };
}

/** A message that waits in the outbox until the bus has acknowledged it. */
export interface OutboxMessage {
  /** Deduplication id on the bus; a new one for every new announcement. */
  readonly msgId: string;
  readonly subject: string;
  readonly payload: string;
}

/** The public message about `event`, or null where the event is not published. `intent` is the state right after it. */
export function publicEvent(event: IntentEvent, intent: Intent, at: number): OutboxMessage | null {
  if (!isPublished.has(event.type)) return null;
  return cloudMessage(event.type, `${intent.proposal.intentId}-${intent.version}`, dataOf(intent), intent, at);
}

/**
 * "Still working", once per attempt that stays open for longer than its tool's notice limit. No event of the log stands
 * behind it: it holds nothing that has to be kept, and it may be lost.
 *
 * @param elapsedMs since the attempt was started
 */
export function progressEvent(intent: In<'dispatching'>, elapsedMs: number, at: number): OutboxMessage {
  const { intentId, tool } = intent.proposal;
  const { number } = intent.attempt;
  const seconds = Math.round(elapsedMs / 100) / 10;
  const message = `${tool} has been working for ${seconds} s and has not answered yet. ${doNotRepeat(intentId)}`;
  const data = { ...dataOf(intent), attempt: number, elapsedMs: Math.round(elapsedMs), message };
  return cloudMessage('progress', `${intentId}-progress-${number}`, data, intent, at);
}

function dataOf(intent: Intent): IntentCloudEvent['data'] {
  return { version: intent.version, ...resultOf(intent, false) };
}

function cloudMessage(
  type: string,
  msgId: string,
  data: IntentCloudEvent['data'],
  intent: Intent,
  at: number,
): OutboxMessage {
  const { intentId, tenant, runId, sandbox, traceparent } = intent.proposal;
  const cloudEvent: IntentCloudEvent = {
    specversion: '1.0',
    id: msgId,
    source: 'intendant',
    type: `intendant.intent.${type}`,
    subject: intentId,
    time: new Date(at).toISOString(),
    datacontenttype: 'application/json',
    tenant,
    data,
    ...(traceparent === null ? {} : { traceparent }),
    ...(sandbox && { sandbox }),
  };
  return { msgId, subject: subjects.event(tenant, runId, intentId, type), payload: JSON.stringify(cloudEvent) };
}
