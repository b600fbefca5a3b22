import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { selfSigned } from './self-signed.js';

/** What the server does once a request is complete, frame by frame. */
export interface H2Behaviour {
  /** Bytes to write for the request on this stream. */
  readonly send?: (stream: number) => Buffer;
  /** Afterwards: serve on, end the connection in order, or drop it. */
  readonly then?: 'keep' | 'end' | 'drop';
}

const types = { data: 0, headers: 1, rst: 3, settings: 4, goaway: 7 };
const flag = { endStream: 1, ack: 1, endHeaders: 4 };

/** One frame (RFC 9113, 4.1). */
export function h2Frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Frames that a server sends. */
export const h2 = {
  headers: (stream: number, status: number, headers: Readonly<Record<string, string>> = {}, end = false) =>
    h2Frame(
      types.headers,
      flag.endHeaders | (end ? flag.endStream : 0),
      stream,
      fields({ ':status': `${status}`, ...headers }),
    ),
  data: (stream: number, text: string, end = true) =>
    h2Frame(types.data, end ? flag.endStream : 0, stream, Buffer.from(text)),
  answer: (stream: number, status: number, body: string, headers: Readonly<Record<string, string>> = {}) =>
    body === ''
      ? h2.headers(stream, status, headers, true)
      : Buffer.concat([h2.headers(stream, status, headers), h2.data(stream, body)]),
  reset: (stream: number, code: number) => h2Frame(types.rst, 0, stream, numbers(code)),
  goaway: (lastStream: number, code: number) => h2Frame(types.goaway, 0, 0, numbers(lastStream, code)),
  /** From now on the client may have that many requests open. */
  streams: (most: number) => h2Frame(types.settings, 0, 0, Buffer.concat([Buffer.from([0, 3]), numbers(most)])),
};

/** Header fields without compression (RFC 7541, 6.2.2). */
function fields(headers: Readonly<Record<string, string>>): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
  return Buffer.concat(
    Object.entries(headers).map(([name, value]) => Buffer.concat([Buffer.from([0]), text(name), text(value)])),
  );
}

function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}

/**
 * The HTTP/2 counterpart of `MisbehavingServer`, over TLS with a certificate that nobody trusts. Counts requests, and
 * does what its script says, one {@link H2Behaviour} per request in order; `{"ok":true}` when the script is over.
 */
export class MisbehavingH2Server {
  /** Requests whose headers have arrived. */
  requests = 0;
  connections = 0;
  readonly #script: H2Behaviour[] = [];
  readonly #sockets = new Set<TLSSocket>();
  readonly #waiting: { readonly count: number; readonly done: () => void }[] = [];

  private constructor(private readonly server: Server) {
    server.on('secureConnection', (socket) => this.#serve(socket));
  }

  static async start(): Promise<MisbehavingH2Server> {
    const server = createServer({ ...selfSigned(), ALPNProtocols: ['h2'] });
    server.on('tlsClientError', () => {});
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new MisbehavingH2Server(server);
  }

  get url(): string {
    return `https://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  script(...behaviours: H2Behaviour[]): void {
    this.#script.push(...behaviours);
  }

  /** Resolves once `count` requests have been seen in all. */
  async seen(count: number): Promise<void> {
    if (this.requests >= count) return;
    await new Promise<void>((done) => this.#waiting.push({ count, done }));
  }

  /** Writes to all open connections, which nobody has asked for. */
  writeToConnections(bytes: Buffer): void {
    for (const socket of this.#sockets) socket.write(bytes);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  #serve(socket: TLSSocket): void {
    this.connections++;
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => {});
    socket.write(h2Frame(types.settings, 0, 0));
    let buffer = Buffer.alloc(0);
    // The first 24 bytes are the client's preface.
    let preface = 24;
    socket.on('data', (chunk: Buffer) => {
      buffer = Buffer.concat([buffer, chunk]);
      if (buffer.length < preface) return;
      buffer = buffer.subarray(preface);
      preface = 0;
      while (buffer.length >= 9 && buffer.length >= 9 + buffer.readUIntBE(0, 3)) {
        const end = 9 + buffer.readUIntBE(0, 3);
        this.#frame(socket, buffer.readUInt8(3), buffer.readUInt8(4), buffer.readUInt32BE(5));
        buffer = buffer.subarray(end);
      }
    });
  }

  #frame(socket: TLSSocket, type: number, flags: number, stream: number): void {
    if (type === types.settings && !(flags & flag.ack)) socket.write(h2Frame(types.settings, flag.ack, 0));
    if (type === types.headers) {
      this.requests++;
      for (const { count, done } of this.#waiting) if (this.requests >= count) done();
    }
    if ((type === types.headers || type === types.data) && flags & flag.endStream) this.#act(socket, stream);
  }

  #act(socket: TLSSocket, stream: number): void {
    const ok = { send: () => h2.answer(stream, 200, '{"ok":true}') };
    const { send, then = 'keep' }: H2Behaviour = this.#script.shift() ?? ok;
    const finish = () => {
      if (then === 'end') socket.end();
      if (then === 'drop') socket.destroy();
    };
    if (send === undefined) finish();
    else socket.write(send(stream), finish);
  }
}
