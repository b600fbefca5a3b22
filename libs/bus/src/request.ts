import { type NatsConnection, RequestError, TimeoutError } from '@nats-io/transport-node';
import { NoResponder, RequestTimeout } from './errors.js';
import { type MessageHeaders, readHeaders, writeHeaders } from './messages.js';

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface Reply {
  readonly data: Uint8Array;
  readonly headers: MessageHeaders;
}

export async function sendRequest(
  connection: NatsConnection,
  subject: string,
  payload: string | Uint8Array,
  { headers, timeoutMs }: RequestOptions,
): Promise<Reply> {
  try {
    const message = await connection.request(subject, payload, {
      timeout: timeoutMs,
      ...(headers === undefined ? {} : { headers: writeHeaders(headers) }),
    });
    return { data: message.data, headers: readHeaders(message.headers) };
  } catch (error) {
    if (error instanceof TimeoutError) throw new RequestTimeout(subject, timeoutMs);
    if (error instanceof RequestError && error.isNoResponders()) throw new NoResponder(subject);
    throw error;
  }
}
