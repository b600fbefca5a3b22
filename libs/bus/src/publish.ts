import type { JetStreamClient } from '@nats-io/jetstream';
import { isNoJetStream } from './ensure-topology.js';
import { BusUnavailable } from './errors.js';
import { writeHeaders } from './messages.js';

export interface Outgoing {
  readonly subject: string;
  readonly payload: string | Uint8Array;
  /**
   * Id of the event or outbox row, a new one for every new announcement: for two minutes the server swallows a
   * second message with the same id, also a legitimate one.
   */
  readonly msgId: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface PublishResult {
  /** Message ids that the server acknowledged, duplicates included. */
  readonly published: string[];
  readonly failed: { readonly msgId: string; readonly error: Error }[];
}

const acknowledgeMs = 5_000;

/**
 * Publishes all at once. A message that no stream takes means that the server lost its store: the topology is made
 * again and that message sent once more under its id.
 */
export async function publishAll(
  messages: readonly Outgoing[],
  client: JetStreamClient,
  connected: () => boolean,
  ensureTopology: () => Promise<void>,
): Promise<PublishResult> {
  const first = await attempt(messages, client, connected);
  const homeless = new Set(first.failed.filter(({ error }) => isNoJetStream(error)).map(({ msgId }) => msgId));
  if (homeless.size === 0) return first;
  try {
    await ensureTopology();
  } catch {
    return first;
  }
  const second = await attempt(
    messages.filter(({ msgId }) => homeless.has(msgId)),
    client,
    connected,
  );
  return {
    published: [...first.published, ...second.published],
    failed: [...first.failed.filter(({ msgId }) => !homeless.has(msgId)), ...second.failed],
  };
}

async function attempt(
  messages: readonly Outgoing[],
  client: JetStreamClient,
  connected: () => boolean,
): Promise<PublishResult> {
  const result: PublishResult = { published: [], failed: [] };
  await Promise.all(
    messages.map(async ({ subject, payload, msgId, headers }) => {
      try {
        // What is written while disconnected is thrown away by the client and would only time out.
        if (!connected()) throw new BusUnavailable('NATS is away; the client keeps reconnecting');
        await client.publish(subject, payload, {
          msgID: msgId,
          timeout: acknowledgeMs,
          ...(headers === undefined ? {} : { headers: writeHeaders(headers) }),
        });
        result.published.push(msgId);
      } catch (error) {
        result.failed.push({ msgId, error: error instanceof Error ? error : new Error(String(error)) });
      }
    }),
  );
  return result;
}
