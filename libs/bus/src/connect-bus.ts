import { jetstreamManager } from '@nats-io/jetstream';
import { connect, errors, type NatsConnection } from '@nats-io/transport-node';
import { Bus } from './bus.js';
import { ensureTopology, isNoJetStream } from './ensure-topology.js';
import { BusUnavailable, TopologyMismatch } from './errors.js';
import { parseServers } from './server-list.js';
import { topology } from './topology.js';

export interface BusOptions {
  /** `nats://user:password@host:port` or `nats://token@host:port`, percent-encoded; several separated by commas. */
  readonly url: string;
  /** Shown in the server's list of connections. */
  readonly name: string;
  /**
   * Where replies arrive, `_INBOX_intendant` by default: whoever may subscribe to the usual `_INBOX.>` reads the
   * replies of everybody who uses that.
   */
  readonly inboxPrefix?: string;
  /** The connection ended for good without `close()` being called: the process should exit and be started again. */
  readonly onClosed?: (error: Error | undefined) => void;
  /** Copies of each stream in a cluster. Undefined: new streams have one, and how many the others have is not looked at. */
  readonly replicas?: number | undefined;
}

/**
 * For good: a client gives up after about 20 s by default, and notices a half-open link only after four to six
 * minutes. Boot is the exception, there a server that is not reachable is an error of the configuration.
 */
const connectionOptions = {
  maxReconnectAttempts: -1,
  reconnectTimeWait: 250,
  pingInterval: 5_000,
  maxPingOut: 2,
  waitOnFirstConnect: false,
  timeout: 5_000,
  // A stack trace per request costs more than the request.
  noAsyncTraces: true,
} as const;

/**
 * Connects, checks that JetStream is there, and makes sure of the streams and durables.
 *
 * @throws BusUnavailable when the server cannot be reached, refuses us, or has no JetStream or no room in it, and when a
 *   cluster has no leader for one of the streams.
 * @throws TopologyMismatch when its streams are configured differently.
 */
export async function connectBus(options: BusOptions): Promise<Bus> {
  const { name, replicas, inboxPrefix = '_INBOX_intendant' } = options;
  const { servers, credentials } = parseServers(options.url);
  const place = servers.join(',');
  const dial = () => connect({ ...connectionOptions, ...credentials, servers: [...servers], name, inboxPrefix });
  const connection = await dial()
    // On a machine where much starts at once a greeting may take its time; somebody who refuses us will do so again.
    .catch((error: unknown) => (error instanceof errors.TimeoutError ? dial() : Promise.reject(error)))
    .catch((error: unknown) => {
      throw refusedConnection(place, error);
    });
  try {
    await requireJetStream(connection, place);
    await ensureTopology(connection, topology, replicas).catch((error: unknown) => explainTopology(place, error));
  } catch (error) {
    await connection.close();
    throw error;
  }
  return new Bus(connection, replicas, inboxPrefix, options.onClosed);
}

async function requireJetStream(connection: NatsConnection, place: string): Promise<void> {
  try {
    await jetstreamManager(connection);
  } catch (error) {
    if (!isNoJetStream(error)) {
      throw new BusUnavailable(`JetStream at ${place} does not answer: ${text(error)}. Look at the server's log.`, {
        cause: error,
      });
    }
    throw new BusUnavailable(
      `NATS at ${place} runs without JetStream, which is needed to store messages. ` +
        'Start nats-server with `-js` and a store directory (`-sd`), or enable JetStream for this account.',
      { cause: error },
    );
  }
}

function explainTopology(place: string, error: unknown): never {
  if (error instanceof BusUnavailable || error instanceof TopologyMismatch) throw error;
  throw new BusUnavailable(
    `JetStream at ${place} does not tell of its streams: ${text(error)}. In a cluster this passes once a leader is ` +
      "elected: start again. Otherwise look at the permissions of this user and at the server's log.",
    { cause: error },
  );
}

function refusedConnection(place: string, error: unknown): BusUnavailable {
  if (error instanceof errors.AuthorizationError) {
    return new BusUnavailable(
      `NATS at ${place} refuses this user: ${text(error)}. Check user and password in the NATS URL.`,
      { cause: error },
    );
  }
  return new BusUnavailable(
    `NATS at ${place} cannot be reached: ${text(error)}. Check the NATS URL, and that nats-server runs there.`,
    { cause: error },
  );
}

function text(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
