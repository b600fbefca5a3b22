import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type NatsMessage, NatsMessages } from './nats-messages.js';

let opened = 0;

/** One connection of the load generator, with one subscription for all answers; the protocol is spoken by hand. */
export class NatsConnection {
  /** Rejects when the connection ends; never resolves. */
  readonly broken: Promise<never>;

  private constructor(
    private readonly socket: Socket,
    /** A request whose answer is number `n` wants its reply at this plus `n`. */
    readonly inbox: string,
    onAnswer: (index: number, message: NatsMessage) => void,
  ) {
    this.broken = new Promise<never>((_, reject) => {
      socket.once('close', () => reject(new Error('NATS closed the connection of the load generator')));
      const messages = new NatsMessages({
        onMessage: (message) => onAnswer(Number(message.subject.slice(inbox.length)), message),
        onPing: () => socket.write('PONG\r\n'),
        onError: (line) => reject(new Error(`NATS refused the load generator: ${line}`)),
      });
      socket.on('data', (chunk) => this.together(() => messages.push(chunk)));
    });
    // Only of interest while a load runs.
    this.broken.catch(() => undefined);
  }

  static async open(url: string, onAnswer: (index: number, message: NatsMessage) => void): Promise<NatsConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    opened += 1;
    // Of this connection only: late answers to an earlier load must not be taken for answers to this one.
    const inbox = `_INBOX.bench${process.pid}-${opened}.`;
    const connection = new NatsConnection(socket, inbox, onAnswer);
    const hello = { verbose: false, pedantic: false, headers: true, no_responders: true };
    socket.write(`CONNECT ${JSON.stringify(hello)}\r\nSUB ${inbox}* 1\r\n`);
    return connection;
  }

  write(frame: Buffer): void {
    this.socket.write(frame);
  }

  /** What is written meanwhile leaves in one piece. */
  together(work: () => void): void {
    this.socket.cork();
    work();
    this.socket.uncork();
  }

  close(): void {
    this.socket.removeAllListeners('close');
    this.socket.destroy();
  }
}
