import { busWindows, eventHeaders, subjects } from '@intendant/contracts';
import { faultPoint } from '@intendant/runtime';
import { createInbox, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { BusUnavailable, NoStream } from './errors.js';
import { writeHeaders } from './messages.js';

export interface Outgoing {
  readonly subject: string;
  readonly payload: string | Uint8Array;
  /**
   * Id of the event or outbox row, a new one for every new announcement: for two minutes the server swallows a
   * second message with the same id, also a legitimate one.
   */
  readonly msgId: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface PublishResult {
  /** Message ids that the server acknowledged, duplicates included. */
  readonly published: string[];
  readonly failed: { readonly msgId: string; readonly error: Error }[];
}

const decoder = new TextDecoder();
const events = subjects.anyEvent.slice(0, -1);

/**
 * Publishes to JetStream, many messages at once: one subscription hears all acknowledgements and one timer bounds each
 * batch. The client's own `publish` makes a request of each message, with a timer, three promises and an error object
 * for its stack.
 */
export class Publisher {
  private readonly inbox: string;
  private readonly waiting = new Map<string, (error: Error | null) => void>();
  private sent = 0;

  constructor(
    private readonly connection: NatsConnection,
    /** Where acknowledgements arrive, see `BusOptions`. */
    inboxPrefix: string,
    private readonly limitMs = busWindows.publishMs,
  ) {
    this.inbox = `${createInbox(inboxPrefix)}.`;
    connection.subscribe(`${this.inbox}*`, {
      // An error ends the subscription together with the connection; what waits then runs into its timer.
      callback: (error, message) => {
        if (!error) this.acknowledged(message);
      },
    });
  }

  /** Never rejects. */
  publish(messages: readonly Outgoing[], connected: () => boolean): Promise<PublishResult> {
    const result: PublishResult = { published: [], failed: [] };
    if (messages.length === 0) return Promise.resolve(result);
    return new Promise((resolve) => {
      const open = new Map<string, string>();
      const end = (token: string, msgId: string, error: Error | null) => {
        this.waiting.delete(token);
        open.delete(token);
        if (error) result.failed.push({ msgId, error });
        else result.published.push(msgId);
        if (open.size === 0) {
          clearTimeout(timer);
          resolve(result);
        }
      };
      const timer = setTimeout(() => {
        const late = new BusUnavailable(`JetStream did not acknowledge within ${this.limitMs} ms`);
        for (const [token, msgId] of [...open]) end(token, msgId, late);
      }, this.limitMs);
      const tokens = messages.map(({ msgId }) => {
        const token = this.token();
        open.set(token, msgId);
        this.waiting.set(token, (error) => end(token, msgId, error));
        return token;
      });
      messages.forEach((message, i) => {
        const token = tokens[i] as string;
        const error = this.send(message, token, connected);
        if (error) end(token, message.msgId, error);
      });
    });
  }

  private token(): string {
    this.sent += 1;
    return String(this.sent);
  }

  private send({ subject, payload, msgId, headers }: Outgoing, token: string, connected: () => boolean): Error | null {
    // What is written while disconnected is thrown away by the client and would only time out.
    if (!connected()) return new BusUnavailable('NATS is away; the client keeps reconnecting');
    try {
      const written = writeHeaders({ ...(subject.startsWith(events) && eventHeaders), ...headers });
      written.set('Nats-Msg-Id', msgId);
      this.connection.publish(subject, payload, { reply: this.inbox + token, headers: written });
      return null;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  private acknowledged(message: Msg): void {
    this.waiting.get(message.subject.slice(this.inbox.length))?.(errorOf(message));
  }
}

/** Null for an acknowledgement; 503 without a body is the server's word that no stream takes the subject. */
function errorOf(message: Msg): Error | null {
  if (message.headers?.code === 503) return new NoStream('no stream takes this subject');
  try {
    // The server has it, and nobody here knows.
    faultPoint('bus.before_ack');
    const { stream, error } = JSON.parse(decoder.decode(message.data)) as {
      stream?: string;
      error?: { description: string };
    };
    if (error) return new Error(error.description);
    return stream ? null : new Error('JetStream sent an acknowledgement without a stream');
  } catch (error) {
    return new Error('JetStream sent an acknowledgement that cannot be read', { cause: error });
  }
}
