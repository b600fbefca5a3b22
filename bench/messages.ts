import { streams } from '@intendant/contracts';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

/** Messages that JetStream ever stored, by stream. */
export type StoredMessages = Readonly<Record<string, number>>;

/** JetStream as it is seen from outside the services. */
export class Messages {
  private constructor(
    private readonly connection: Awaited<ReturnType<typeof connect>>,
    private readonly manager: Awaited<ReturnType<typeof jetstreamManager>>,
  ) {}

  static async open(url: string): Promise<Messages> {
    const connection = await connect({ servers: url });
    return new Messages(connection, await jetstreamManager(connection));
  }

  /** Removes what earlier measurements left; the services make the streams again when they start. */
  async wipe(): Promise<void> {
    for (const name of await this.present()) await this.manager.streams.delete(name);
  }

  async stored(): Promise<StoredMessages> {
    const counts: [string, number][] = [];
    for (const name of await this.present()) {
      counts.push([name, (await this.manager.streams.info(name)).state.last_seq]);
    }
    return Object.fromEntries(counts);
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  private async present(): Promise<string[]> {
    const wanted: readonly string[] = Object.values(streams);
    const found: string[] = [];
    for await (const { config } of this.manager.streams.list())
      if (wanted.includes(config.name)) found.push(config.name);
    return found;
  }
}
