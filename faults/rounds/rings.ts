import { setTimeout as pause } from 'node:timers/promises';
import { subjects } from '@intendant/contracts';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import type { FaultLog } from '../rig/installation.js';
import type { World } from './world.js';

/** Marks what was rung here, so that it is not echoed itself. */
const mark = 'Rig-Echo';
/** Intents in one message, as the services ring. */
const perMessage = 100;

/** Rings dispatchers more often than anybody would: messages come several times, late, and in any order. */
export class Rings {
  constructor(
    private readonly nats: NatsConnection,
    private readonly world: World,
    private readonly faults: FaultLog,
  ) {}

  /** Repeats whatever is rung, at once and so many times, so that dispatchers race for it. */
  async echo(times: number, forMs: number, signal: AbortSignal): Promise<void> {
    let rung = 0;
    const subscription = this.nats.subscribe(subjects.hintDispatch, {
      callback: (error, message) => {
        if (error || message.headers?.has(mark)) return;
        rung += 1;
        for (let n = 0; n < times; n += 1) this.#ring(subjects.hintDispatch, message.data);
        this.#ring(subjects.dispatch, message.data);
      },
    });
    await pause(forMs, undefined, { signal }).catch(() => undefined);
    subscription.unsubscribe();
    this.faults.add({
      kind: 'echo',
      phase: 'begin',
      target: 'dispatcher',
      detail: { times, rung },
      happened: rung > 0,
    });
  }

  /** Rings for everything there ever was, in its present state and in none it has any more. */
  async ringAll(): Promise<void> {
    const all = await this.world.announcements();
    for (let i = 0; i < all.length; i += perMessage) {
      const intents = all.slice(i, i + perMessage).map(({ state: _, ...announced }) => announced);
      const older = intents.map((each) => ({ ...each, version: Math.max(1, each.version - 1) }));
      this.#ring(subjects.dispatch, JSON.stringify({ intents }));
      this.#ring(subjects.hintDispatch, JSON.stringify({ intents: older }));
    }
    const closed = all.filter(({ state }) => state !== 'authorized').length;
    this.faults.add({
      ...{ kind: 'ring', phase: 'begin', target: 'dispatcher', detail: { intents: closed } },
      happened: closed > 0,
    });
  }

  #ring(subject: string, data: Uint8Array | string): void {
    const marked = headers();
    marked.set(mark, '1');
    this.nats.publish(subject, data, { headers: marked });
  }
}
