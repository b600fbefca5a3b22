import { streams } from '@intendant/contracts';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { Stack } from './stack.js';

export interface Stored {
  readonly msgId: string;
  readonly subject: string;
  readonly payload: string;
}

/** Takes the doorbells up to `lastSeq`, or all there are, away from the dispatchers, none of which may be running. */
export async function takeBells(stack: Stack, lastSeq?: number): Promise<void> {
  const manager = await jetstreamManager(stack.bus);
  const consumer = await jetstream(stack.bus).consumers.get(streams.work, 'dispatcher');
  const end = lastSeq ?? (await manager.streams.info(streams.work)).state.last_seq;
  while ((await manager.consumers.info(streams.work, 'dispatcher')).delivered.stream_seq < end) {
    for await (const bell of await consumer.fetch({ max_messages: 100, expires: 1_000 })) {
      bell.ack();
      if (bell.seq >= end) break;
    }
  }
}

/** Everything a stream holds now, oldest first. */
export async function messagesOf(stack: Stack, stream: string): Promise<Stored[]> {
  const { state } = await (await jetstreamManager(stack.bus)).streams.info(stream);
  const stored: Stored[] = [];
  if (state.messages === 0) return stored;
  const consumer = await jetstream(stack.bus).consumers.get(stream);
  for await (const message of await consumer.consume({ max_messages: 500 })) {
    stored.push({
      msgId: message.headers?.get('Nats-Msg-Id') ?? '',
      subject: message.subject,
      payload: message.string(),
    });
    if (message.seq >= state.last_seq) break;
  }
  return stored;
}
