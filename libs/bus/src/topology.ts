import { busWindows, streams, subjects } from '@intendant/contracts';
import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  DiscardPolicy,
  ReplayPolicy,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';

const mebibyte = 1024 * 1024;

/**
 * Fields of a stream that are asked for and compared; everything else is the server's default. `max_bytes` is asked for
 * only: how much disk there is, the operator knows, and may raise it.
 */
export type StreamSpec = Partial<StreamConfig> & Pick<StreamConfig, 'name' | 'subjects'>;

/** A durable pull consumer: the place in a stream that all replicas of one service share. */
export interface DurableSpec {
  readonly stream: string;
  readonly durable: string;
  /** Filter; may hold wildcards, which the server matches. Several must not overlap. */
  readonly subject: string | readonly string[];
  /** After this long without an acknowledgement or a sign of work the server delivers again. */
  readonly ackWaitMs: number;
  /**
   * Unacknowledged messages over all replicas; each replica bounds itself by its concurrency. A message that waits
   * for its redelivery counts too, so a bound near the concurrency lets a few failing messages block all others. -1: none.
   */
  readonly maxAckPending?: number;
  /** There because of a setting; such a durable follows what the setting says now. */
  readonly optional?: {
    /** Where it begins in the stream, when it is created. */
    readonly since: Date;
    /** The server forgets it when nobody has pulled from it for this long. */
    readonly forgottenAfterMs: number;
  };
}

export interface Topology {
  readonly streams: readonly StreamSpec[];
  readonly durables: readonly DurableSpec[];
}

/** Durables of the services; spread one into `@OnWork` together with a concurrency. */
export const durables = {
  /** Submissions to be admitted. */
  admission: {
    stream: streams.intents,
    durable: 'policy',
    subject: subjects.anyIntents,
    ackWaitMs: busWindows.ackWaitMs,
  },
  /** Doorbells for dispatchers. */
  dispatch: {
    stream: streams.work,
    durable: 'dispatcher',
    subject: subjects.dispatch,
    ackWaitMs: busWindows.ackWaitMs,
  },
} as const satisfies Record<string, DurableSpec>;

const common = {
  // JetStream sends its acknowledgement to the subject that a publisher names, also to its own API, which takes it for a
  // request to purge: whoever may publish one submission could empty any stream.
  deny_purge: true,
  deny_delete: true,
  storage: StorageType.File,
  duplicate_window: nanos(busWindows.duplicateMs),
};

/**
 * Everything that has to exist on the server. PostgreSQL is the truth: all of it may be lost and is made again.
 *
 * JetStream reserves `max_bytes` against `max_file`, which is three quarters of the free disk when it is not
 * configured, and neither creates nor, after a restart, recovers a stream that does not fit. So the sum is
 * 1.5 GiB: it fits when 2 GiB are free.
 */
export const topology: Topology = {
  streams: [
    {
      ...common,
      name: streams.intents,
      subjects: [subjects.anyIntents],
      // Once admitted, a submission is in PostgreSQL; here it would only take room and keep its sender's token. There is
      // one consumer and nothing is ever terminated, so the hazards of work queues do not apply (docs/decisions/0008).
      retention: RetentionPolicy.Workqueue,
      // A submission that does not fit is refused to its sender instead of pushing out one that nobody has read.
      discard: DiscardPolicy.New,
      max_age: nanos(busWindows.submissionMs),
      max_bytes: 1024 * mebibyte,
    },
    {
      ...common,
      name: streams.work,
      // An interest stream would store nothing while no consumer exists.
      retention: RetentionPolicy.Limits,
      subjects: ['intendant.work.>'],
      discard: DiscardPolicy.Old,
      max_age: nanos(busWindows.doorbellMs),
      max_bytes: 256 * mebibyte,
    },
    {
      ...common,
      name: streams.events,
      retention: RetentionPolicy.Limits,
      subjects: [subjects.anyEvent],
      discard: DiscardPolicy.Old,
      max_age: nanos(busWindows.eventMs),
      max_bytes: 256 * mebibyte,
    },
  ],
  durables: Object.values(durables),
};

/** The consumer as JetStream is asked for it. */
export function consumerConfig(spec: DurableSpec): Partial<ConsumerConfig> & { durable_name: string } {
  return {
    durable_name: spec.durable,
    ...(typeof spec.subject === 'string' ? { filter_subject: spec.subject } : { filter_subjects: [...spec.subject] }),
    ack_policy: AckPolicy.Explicit,
    ...beginning(spec),
    replay_policy: ReplayPolicy.Instant,
    ack_wait: nanos(spec.ackWaitMs),
    max_ack_pending: spec.maxAckPending ?? 10_000,
    // Attempts are counted in PostgreSQL. An exhausted message would lie idle with nobody told, and `backoff` is
    // left out because it distorts the delay of a negative acknowledgement.
    max_deliver: -1,
  };
}

function beginning({ optional }: DurableSpec): Partial<ConsumerConfig> {
  if (optional === undefined) return { deliver_policy: DeliverPolicy.All };
  return {
    deliver_policy: DeliverPolicy.StartTime,
    opt_start_time: optional.since.toISOString(),
    inactive_threshold: nanos(optional.forgottenAfterMs),
  };
}
