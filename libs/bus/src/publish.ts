import { NoStream } from './errors.js';
import type { Outgoing, Publisher, PublishResult } from './publisher.js';

/**
 * Publishes all at once. A message that no stream takes means that the server lost its store: the topology is made
 * again and that message sent once more under its id.
 */
export async function publishAll(
  messages: readonly Outgoing[],
  publisher: Publisher,
  connected: () => boolean,
  ensureTopology: () => Promise<void>,
): Promise<PublishResult> {
  const first = await publisher.publish(messages, connected);
  const homeless = new Set(first.failed.filter(({ error }) => error instanceof NoStream).map(({ msgId }) => msgId));
  if (homeless.size === 0) return first;
  try {
    await ensureTopology();
  } catch {
    return first;
  }
  const second = await publisher.publish(
    messages.filter(({ msgId }) => homeless.has(msgId)),
    connected,
  );
  return {
    published: [...first.published, ...second.published],
    failed: [...first.failed.filter(({ msgId }) => !homeless.has(msgId)), ...second.failed],
  };
}
