import { streams } from '@intendant/contracts';
import { type ConsumerInfo, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import type { BusDump, PublishedEvent } from '../history/bus.js';

type Told = Omit<PublishedEvent, 'stored' | 'heard'>;

/** Hears every public event as it is published, past all proxies, and tells at the end what NATS holds. */
export class BusWitness {
  readonly #heard = new Map<string, { readonly told: Told; times: number }>();

  private constructor(private readonly connection: NatsConnection) {}

  static async start(urls: readonly string[]): Promise<BusWitness> {
    const connection = await connect({
      servers: [...urls],
      name: 'rig-witness',
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
      pingInterval: 5_000,
    });
    const witness = new BusWitness(connection);
    connection.subscribe('intendant.events.>', {
      callback: (_, { subject, data, headers }) => witness.#hear(toldOf(subject, data, headers)),
    });
    await connection.flush();
    return witness;
  }

  async dump(): Promise<BusDump> {
    const manager = await jetstreamManager(this.connection);
    const found = await manager.streams.list().next();
    const names = found.map(({ config }) => config.name);
    const consumers = await Promise.all(names.map((name) => manager.consumers.list(name).next()));
    const stored = names.includes(streams.events) ? await this.#stored(manager) : [];
    return {
      streams: found.map(({ config, state }) => ({ name: config.name, messages: state.messages })),
      // Those without a durable name are readers of the rig itself, which other cases may have under way.
      consumers: durable(consumers.flat()).map((each) => ({
        stream: each.stream_name,
        name: each.name,
        ackPending: each.num_ack_pending,
        pending: each.num_pending,
      })),
      published: this.#together(stored),
    };
  }

  async close(): Promise<void> {
    await this.connection.close();
  }

  #hear(told: Told): void {
    const known = this.#heard.get(idOf(told));
    if (known) known.times += 1;
    else this.#heard.set(idOf(told), { told, times: 1 });
  }

  async #stored(manager: JetStreamManager): Promise<Told[]> {
    const { state } = await manager.streams.info(streams.events);
    if (state.messages === 0) return [];
    const consumer = await jetstream(this.connection).consumers.get(streams.events);
    const told: Told[] = [];
    for await (const message of await consumer.consume()) {
      told.push(toldOf(message.subject, message.data, message.headers));
      if (message.info.pending === 0) break;
    }
    return told;
  }

  /** A message that is stored twice is told twice: that is for the checker to see. */
  #together(stored: readonly Told[]): PublishedEvent[] {
    const ids = new Set(stored.map(idOf));
    const lost = [...this.#heard.values()].filter(({ told }) => !ids.has(idOf(told)));
    return [
      ...stored.map((told) => ({ ...told, stored: true, heard: this.#heard.get(idOf(told))?.times ?? 0 })),
      ...lost.map(({ told, times }) => ({ ...told, stored: false, heard: times })),
    ];
  }
}

/** Where a message has no id of its own, its event does. */
function idOf({ msgId, subject, version }: Told): string {
  return msgId ?? `${subject} ${version}`;
}

function toldOf(subject: string, data: Uint8Array, headers: MsgHdrs | undefined): Told {
  const event = JSON.parse(new TextDecoder().decode(data)) as {
    type: string;
    subject: string;
    data: { version: number };
  };
  return {
    msgId: headers?.get('Nats-Msg-Id') || null,
    subject,
    type: event.type,
    intentId: event.subject,
    version: event.data.version,
    data: event.data,
  };
}

function durable(consumers: readonly ConsumerInfo[]): ConsumerInfo[] {
  return consumers.filter(({ config }) => config.durable_name !== undefined);
}
