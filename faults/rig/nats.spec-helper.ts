import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { RigNats } from './nats.js';

/** Clients of the nodes under test; `close` ends their connections. */
export class NatsClients {
  readonly #connections: NatsConnection[] = [];

  constructor(private readonly nats: RigNats) {}

  /** Of one node, or of whichever answers. */
  async connect(nodes: readonly number[] = this.nats.ports.map((_, node) => node)): Promise<NatsConnection> {
    const servers = nodes.map((node) => this.nats.urls[node] ?? '');
    const connection = await connect({ servers, reconnect: false, timeout: 2_000 });
    this.#connections.push(connection);
    return connection;
  }

  async manage<T>(work: (manager: JetStreamManager) => Promise<T>): Promise<T> {
    return work(await jetstreamManager(await this.connect(), { checkAPI: false, timeout: 10_000 }));
  }

  /** With a durable `worker`, and as many replicas as there are nodes. */
  async makeStream(name: string): Promise<void> {
    await this.manage(async (manager) => {
      await manager.streams.add({ name, subjects: [`${name}.>`], num_replicas: this.nats.nodes });
      await manager.consumers.add(name, { durable_name: 'worker', ack_policy: 'explicit' });
    });
  }

  async store(stream: string, msgID: string): Promise<void> {
    await jetstream(await this.connect(), { timeout: 10_000 }).publish(`${stream}.x`, msgID, { msgID });
  }

  async stored(stream: string): Promise<number> {
    return this.manage(async (manager) => (await manager.streams.info(stream)).state.messages);
  }

  async close(): Promise<void> {
    await Promise.all(this.#connections.map((each) => each.close()));
  }
}
