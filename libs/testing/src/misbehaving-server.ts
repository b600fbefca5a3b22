import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { RequestReader, type SeenRequest } from './misbehaving-reader.js';

/** What the server does with one request, down to the byte. */
export interface Behaviour {
  /**
   * When it acts: as soon as the connection stands, when the request's headers are complete, or when the whole
   * request has been read. `accept` belongs to the next connection, the others to the next request.
   */
  readonly at: 'accept' | 'headers' | 'request';
  /** Bytes to write; what is not written is not sent. */
  readonly send?: string | Buffer;
  /** What follows bit by bit without end, one of these every few milliseconds, until the other side gives up. */
  readonly drip?: string;
  /** Afterwards: serve the next request, say nothing for ever, send a FIN, or send an RST. */
  readonly then: 'keep' | 'hang' | 'close' | 'reset';
}

/** An answer with the right length, over a connection that stays open. */
export function response(status: number, body = '', headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} X\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${lines.join('')}\r\n${body}`;
}

const wellBehaved: Behaviour = { at: 'request', send: response(200, '{"ok":true}'), then: 'keep' };

/**
 * A TCP server for tests of clients that must survive anything: it notes every request it sees and answers by script,
 * one {@link Behaviour} per request in order, `{"ok":true}` when the script is over.
 */
export class MisbehavingServer {
  readonly requests: SeenRequest[] = [];
  /** Connections accepted so far. */
  connections = 0;
  readonly #script: Behaviour[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #waiting: { readonly count: number; readonly done: () => void }[] = [];

  private constructor(private readonly server: Server) {
    server.on('connection', (socket) => this.#serve(socket));
  }

  static async start(): Promise<MisbehavingServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new MisbehavingServer(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  script(...behaviours: Behaviour[]): void {
    this.#script.push(...behaviours);
  }

  /** How many requests carried this attempt id. */
  wireRequests(attemptId: string): number {
    return this.requests.filter((request) => request.headers['x-attempt-id'] === attemptId).length;
  }

  /** Resolves once `count` requests have been seen in all. */
  async seen(count: number): Promise<void> {
    if (this.requests.length >= count) return;
    await new Promise<void>((done) => this.#waiting.push({ count, done }));
  }

  /** Ends the open connections from this side and waits until they are gone. */
  async closeConnections(): Promise<void> {
    const closed = [...this.#sockets].map((socket) => once(socket, 'close'));
    for (const socket of this.#sockets) socket.end();
    await Promise.all(closed);
  }

  /** Ends the open connections from this side without waiting for anything. */
  endConnections(): void {
    for (const socket of this.#sockets) socket.end();
  }

  /** Writes to the open connections, which nobody has asked for. */
  writeToConnections(bytes: string): void {
    for (const socket of this.#sockets) socket.write(bytes);
  }

  /** Resets the open connections without waiting for anything. */
  resetConnections(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (!this.server.listening) return;
    this.server.close();
    await once(this.server, 'close');
  }

  #serve(socket: Socket): void {
    const connection = ++this.connections;
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    // Clients that give up reset the connection; that is what the tests are about.
    socket.on('error', () => {});
    if (this.#script[0]?.at === 'accept') {
      const behaviour = this.#script.shift() ?? wellBehaved;
      this.#act(socket, behaviour);
      if (behaviour.then !== 'keep') return;
    }
    let behaviour: Behaviour | null = null;
    const reader = new RequestReader({
      onHeaders: (request) => {
        behaviour = this.#script.shift() ?? wellBehaved;
        this.#note({ ...request, connection });
        if (behaviour.at === 'headers') this.#act(socket, behaviour);
      },
      onRequest: () => {
        if (behaviour?.at === 'request') this.#act(socket, behaviour);
      },
    });
    socket.on('data', (chunk) => reader.push(chunk));
  }

  #note(request: SeenRequest): void {
    this.requests.push(request);
    for (const { count, done } of this.#waiting) if (this.requests.length >= count) done();
  }

  #act(socket: Socket, { send, drip, then }: Behaviour): void {
    const finish = () => {
      if (drip !== undefined) return this.#drip(socket, drip);
      if (then === 'close') socket.end();
      if (then === 'reset') socket.resetAndDestroy();
    };
    // An RST overtakes bytes that the kernel does not have yet.
    if (send === undefined) finish();
    else socket.write(send, finish);
  }

  #drip(socket: Socket, text: string): void {
    const timer = setInterval(() => socket.writable && socket.write(text), 5);
    socket.once('close', () => clearInterval(timer));
  }
}
