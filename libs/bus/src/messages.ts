import { headers, Match, type MsgHdrs } from '@nats-io/transport-node';

/** Headers of a message; names are matched without regard to case, as HTTP clients expect. */
export interface MessageHeaders {
  get(name: string): string | undefined;
}

/** A message of a durable stream, handled at least once: handlers are idempotent. */
export interface WorkMessage {
  /** Names the stored message, the same on every delivery. */
  readonly id: string;
  /** When the server stored it, in ms since the epoch. */
  readonly storedAt: number;
  /** How often it was delivered, this time included. After a failure of the server it may start again. */
  readonly deliveries: number;
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headers: MessageHeaders;
  /**
   * Acknowledges before the handler returns, once its work is committed, so that slow follow-up work holds no
   * unacknowledged message. An error thrown afterwards is logged and does not bring the message back.
   */
  ack(): void;
  /** Not now: delivered again after `delayMs`, to this replica or another. Not a failure, so it is not logged as one. */
  later(delayMs: number): void;
}

/** A request that waits for one reply. */
export interface RpcRequest {
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headers: MessageHeaders;
}

/** A wake-up that may be lost, repeated or late. */
export interface HintMessage {
  readonly subject: string;
  readonly payload: Uint8Array;
}

export function readHeaders(source: MsgHdrs | undefined): MessageHeaders {
  return {
    get: (name) => {
      if (source === undefined) return undefined;
      return source.get(name) || source.get(name, Match.IgnoreCase) || undefined;
    },
  };
}

/** Line breaks would end the header and are refused by the client; error texts contain them. */
export function writeHeaders(values: Readonly<Record<string, string>>): MsgHdrs {
  const target = headers();
  for (const [name, value] of Object.entries(values)) target.set(name, value.replace(/[\r\n]+/g, ' '));
  return target;
}
