import type { IntentCloudEvent } from '@intendant/contracts';
import { eventName, type Notice } from './channel.js';

/**
 * The event of a message of the bus, with the address under which people read more, where there is one to give. Null for
 * what is no event of ours.
 */
export function readNotice(payload: Uint8Array, publicUrl: string | null): Notice | null {
  const event = parse(payload);
  if (event === null || publicUrl === null) return event;
  const place = eventName(event) === 'approval_requested' ? 'approvals' : 'intents';
  return { ...event, link: `${publicUrl}/v1/${place}/${event.subject}` };
}

function parse(payload: Uint8Array): IntentCloudEvent | null {
  try {
    const event: unknown = JSON.parse(new TextDecoder().decode(payload));
    return isEvent(event) ? event : null;
  } catch {
    return null;
  }
}

/** An id becomes a header, and the subject a part of an address. */
function isEvent(value: unknown): value is IntentCloudEvent {
  if (typeof value !== 'object' || value === null) return false;
  const { id, type, subject } = value as Readonly<Record<string, unknown>>;
  return [id, type, subject].every((text) => typeof text === 'string' && /^[\w.-]{1,200}$/.test(text));
}
