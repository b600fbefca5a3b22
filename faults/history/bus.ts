/** What NATS held at the end of a round, and what was heard of it while it went on. */
export interface BusDump {
  readonly streams: readonly { readonly name: string; readonly messages: number }[];
  readonly consumers: readonly {
    readonly stream: string;
    readonly name: string;
    /** Delivered and not acknowledged. */
    readonly ackPending: number;
    /** Stored and not delivered. */
    readonly pending: number;
  }[];
  /** Public events, as the stream holds them or as a listener heard them; each message id once. */
  readonly published: readonly PublishedEvent[];
}

export interface PublishedEvent {
  /** The id that JetStream knows the message by. */
  readonly msgId: string | null;
  readonly subject: string;
  /** CloudEvents `type`. */
  readonly type: string;
  readonly intentId: string;
  /** Position in the intent's stream. */
  readonly version: number;
  /** Its `data`, whole. */
  readonly data?: unknown;
  /** Still in the stream at the end; false: only heard. */
  readonly stored: boolean;
  /** How often it was heard: a publish that is repeated after its acknowledgement was lost is heard twice. */
  readonly heard: number;
}
