/** The bus cannot be used: the message says what failed, where, and what to do about it. */
export class BusUnavailable extends Error {
  override readonly name = 'BusUnavailable';
}

/** No stream takes a subject: the server has lost its store, or the subject is none of ours. */
export class NoStream extends Error {
  override readonly name = 'NoStream';
}

/** Nobody is subscribed to the subject of a request: the service that answers it is not running. */
export class NoResponder extends Error {
  override readonly name = 'NoResponder';

  constructor(readonly subject: string) {
    super(`nobody answers requests on ${subject}: is the service that answers them running?`);
  }
}

/** The answer did not come in time. The request may still have been handled. */
export class RequestTimeout extends Error {
  override readonly name = 'RequestTimeout';

  constructor(
    readonly subject: string,
    readonly timeoutMs: number,
  ) {
    super(`no answer on ${subject} within ${timeoutMs} ms; the request may still have been handled`);
  }
}

/** One field of a stream or durable consumer that the server keeps differently from what was asked for. */
export interface Difference {
  /** `stream NAME` or `consumer STREAM/NAME`. */
  readonly resource: string;
  /** Name of the field in the JetStream API; durations are nanoseconds there. */
  readonly field: string;
  readonly wanted: unknown;
  readonly found: unknown;
}

/**
 * The server has a stream or consumer of ours with another configuration. Servers drop fields they do not know
 * without an error, so running on would mean running with guarantees that are not there.
 */
export class TopologyMismatch extends Error {
  override readonly name = 'TopologyMismatch';

  constructor(readonly differences: readonly Difference[]) {
    const lines = differences.map(
      ({ resource, field, wanted, found }) =>
        `  ${resource}: ${field} is ${JSON.stringify(found)}, ${JSON.stringify(wanted)} is needed`,
    );
    super(
      `JetStream is configured differently from what this version needs:\n${lines.join('\n')}\n` +
        'Change these fields on the server (`nats stream edit`, `nats consumer edit`), or delete the stream or ' +
        'consumer and start again: it is created anew, and what was in it is announced again from the database.',
    );
  }
}
