import { type IntentCloudEvent, streams } from '@intendant/contracts';
import { eventually } from './eventually.js';
import type { Stack } from './stack.js';
import { messagesOf } from './stream-listing.js';

/** The public event without its surroundings, such as `committed`. */
export type Told = Pick<IntentCloudEvent['data'], 'status' | 'outcome' | 'error' | 'corrections'> & {
  readonly event: string;
};

/**
 * What subscribers of the public events were told about an intent so far, by version: each process publishes what it
 * has committed, so that the stream may have it in another order.
 */
export async function toldAbout(stack: Stack, intentId: string): Promise<Told[]> {
  const stored = await messagesOf(stack, streams.events);
  return stored
    .filter(({ subject }) => subject.split('.').includes(intentId))
    .map(({ payload }) => JSON.parse(payload) as IntentCloudEvent)
    .sort((one, other) => one.data.version - other.data.version)
    .map(({ type, data: { status, outcome, error, corrections } }) => ({
      event: type.replace('intendant.intent.', ''),
      ...{ status, outcome, error, ...(corrections && { corrections }) },
    }));
}

/** The names of the events, once the log has nothing more to publish. */
export async function eventsTold(stack: Stack, intentId: string): Promise<string[]> {
  const waiting = 'SELECT 1 FROM outbox WHERE position($1 IN subject) > 0 LIMIT 1';
  await eventually('its events have left the outbox', async () => {
    return (await stack.database.query(waiting, [intentId])).length === 0;
  });
  return (await toldAbout(stack, intentId)).map(({ event }) => event);
}
