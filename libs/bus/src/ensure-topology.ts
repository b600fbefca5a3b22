import { JetStreamApiCodes, JetStreamApiError, type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { BusUnavailable, type Difference, TopologyMismatch } from './errors.js';
import { consumerConfig, type DurableSpec, type StreamSpec, type Topology, topology } from './topology.js';

/** JetStream's "name already in use with a different configuration", for streams and consumers. */
const inUse = [10058, 10148];
/** JetStream's "insufficient storage resources available". */
const noRoom = 10047;
/** "no suitable peers for placement", and "replicas > 1 not supported in non-clustered mode". */
const tooFewServers = [10005, 10074];

/**
 * Nobody took a request or a publish: JetStream is off, or no stream has the subject. The client throws one error for
 * both and does not export its class.
 */
export function isNoJetStream(error: unknown): boolean {
  return error instanceof Error && error.name === 'JetStreamNotEnabled';
}

/**
 * Creates what is missing on the server and compares what is there, field by field, with what is asked for.
 * Safe to call from many processes at once and at any time, also after the server lost everything.
 *
 * @param replicas copies of each stream in a cluster. Undefined: what is created has one, and that is not compared.
 * @throws TopologyMismatch when the server keeps something in another way.
 * @throws BusUnavailable when a stream that is missing cannot be created: it does not fit into the server's storage, or
 *   there are fewer servers than replicas.
 */
export async function ensureTopology(
  connection: NatsConnection,
  wanted: Topology = topology,
  replicas?: number,
): Promise<void> {
  const manager = await jetstreamManager(connection, { checkAPI: false });
  const differences: Difference[] = [];
  for (const stream of wanted.streams) differences.push(...(await ensureStream(manager, stream, replicas)));
  for (const durable of wanted.durables) differences.push(...(await ensureConsumer(manager, durable)));
  if (differences.length > 0) throw new TopologyMismatch(differences);
}

async function ensureStream(manager: JetStreamManager, spec: StreamSpec, replicas?: number): Promise<Difference[]> {
  const info = await getOrAdd(
    () => manager.streams.info(spec.name),
    () =>
      manager.streams
        .add({ ...spec, num_replicas: replicas ?? 1 })
        .catch((error: unknown) => rejectAdding(spec, replicas, error)),
  );
  const { max_bytes: _, ...compared } = spec;
  const wanted = replicas === undefined ? compared : { ...compared, num_replicas: replicas };
  return compare(`stream ${spec.name}`, wanted, info.config);
}

function rejectAdding({ name, max_bytes = 0 }: StreamSpec, replicas: number | undefined, error: unknown): never {
  if (!(error instanceof JetStreamApiError)) throw error;
  if (tooFewServers.includes(error.code)) {
    throw new BusUnavailable(
      `JetStream cannot keep ${replicas ?? 1} replicas of stream ${name}: ${error.message}. Start as many servers in ` +
        'one cluster, or set INTENDANT_STREAM_REPLICAS to what there is.',
      { cause: error },
    );
  }
  if (error.code !== noRoom) throw error;
  throw new BusUnavailable(
    `JetStream has no room for stream ${name}, which reserves ${max_bytes / 1024 ** 2} MiB: free disk space, or ` +
      'raise `max_file` in the configuration of nats-server, and restart that; what it stored before comes back.',
    { cause: error },
  );
}

async function ensureConsumer(manager: JetStreamManager, spec: DurableSpec): Promise<Difference[]> {
  const config = consumerConfig(spec);
  const info = await getOrAdd(
    () => manager.consumers.info(spec.stream, spec.durable),
    () => manager.consumers.add(spec.stream, config),
  );
  const resource = `consumer ${spec.stream}/${spec.durable}`;
  if (spec.optional === undefined) return compare(resource, config, info.config);
  // Where it began is its own past and cannot be changed; the place it has reached stays.
  const { opt_start_time: _, ...wanted } = config;
  if (compare(resource, wanted, info.config).length === 0) return [];
  const updated = await manager.consumers.update(spec.stream, spec.durable, wanted);
  return compare(resource, wanted, updated.config);
}

async function getOrAdd<T>(get: () => Promise<T>, add: () => Promise<T>): Promise<T> {
  try {
    return await get();
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  try {
    return await add();
  } catch (error) {
    // Another process created it in between, with another configuration: read it to say what differs.
    if (error instanceof JetStreamApiError && inUse.includes(error.code)) return get();
    throw error;
  }
}

/** The stream or the consumer does not exist (any more). */
export function isMissing(error: unknown): boolean {
  return (
    error instanceof JetStreamApiError &&
    (error.code === JetStreamApiCodes.StreamNotFound || error.code === JetStreamApiCodes.ConsumerNotFound)
  );
}

function compare(resource: string, wanted: object, found: object): Difference[] {
  const actual = new Map<string, unknown>(Object.entries(found));
  return Object.entries(wanted)
    .filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(actual.get(field)))
    .map(([field, value]) => ({ resource, field, wanted: value, found: actual.get(field) }));
}
