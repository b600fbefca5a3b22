import { setTimeout as pause } from 'node:timers/promises';
import { durables } from '@intendant/bus';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Agents } from './agents.js';
import type { Operator } from './operator.js';
import type { World } from './world.js';

const everyMs = 500;
/** At rest is what has been so for this many looks in a row: between two of them something may be on its way. */
const looks = 3;

interface Parties {
  readonly agents: Pick<Agents, 'busy' | 'unanswered'>;
  readonly operator: Pick<Operator, 'open'>;
  readonly world: World;
  readonly nats: NatsConnection;
  /** Until then effects may come that were on their way, in ms since the epoch. */
  readonly effectsUntil: number;
}

/**
 * Waits until nothing moves by itself any more: no intent has a time to wake up at, the outbox is empty, consumers have
 * nothing left, everybody is answered, and dead letters are dealt with. Resolves with what still moved after `limitMs`,
 * or with null.
 */
export async function untilAtRest(parties: Parties, limitMs: number, signal: AbortSignal): Promise<string | null> {
  const deadline = performance.now() + limitMs;
  let quiet = 0;
  for (;;) {
    const moving = await whatMoves(parties);
    quiet = moving === null ? quiet + 1 : 0;
    if (quiet === looks) return null;
    if (performance.now() > deadline || signal.aborted) return moving ?? 'it came to rest just now';
    await pause(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

async function whatMoves({ agents, operator, world, nats, effectsUntil }: Parties): Promise<string | null> {
  try {
    // A repeat that is still to come would meet a frozen installation.
    if (agents.busy > 0) return `agents of ${agents.busy} intents, with ${agents.unanswered} submits without an answer`;
    const moving = await world.moving();
    if (moving[0]) return `${moving.length} intents, such as ${moving[0].intentId} (${moving[0].state})`;
    const outbox = await world.outbox();
    if (outbox > 0) return `${outbox} messages in the outbox`;
    const letters = await operator.open();
    if (letters.length > 0) return `${letters.length} dead letters that an operator is to deal with`;
    const left = await leftInConsumers(nats);
    if (left !== null) return left;
    return Date.now() < effectsUntil ? 'effects that may still come' : null;
  } catch (error) {
    return `somebody who does not answer: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function leftInConsumers(nats: NatsConnection): Promise<string | null> {
  const manager = await jetstreamManager(nats);
  for (const { stream, durable } of Object.values(durables)) {
    const { num_pending, num_ack_pending } = await manager.consumers.info(stream, durable);
    if (num_pending + num_ack_pending > 0) {
      return `${num_pending} messages for ${durable}, and ${num_ack_pending} that it has not acknowledged`;
    }
  }
  return null;
}
