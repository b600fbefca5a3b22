import type net from 'node:net';
import { AnswerReader } from './answer-reader.js';
import type { Fault, SeenRequest, Struck } from './fault.js';
import { RequestStream } from './request-stream.js';

/** What a connection needs to know of the proxy it belongs to. */
export interface LinkWorld {
  /** `Host` of the upstream. */
  readonly host: string;
  connect(): net.Socket;
  /** Writes the request down and says what is to happen to it. */
  begin(attemptId: string): { readonly seen: SeenRequest; readonly fault: ArmedFault | null };
}

export interface ArmedFault {
  readonly fault: Fault;
  strike(struck: Struck): void;
}

/** One connection of a client and the one to the upstream that belongs to it. */
export class Link {
  readonly #stream = new RequestStream();
  readonly #server: net.Socket;
  #seen: SeenRequest | null = null;
  #armed: ArmedFault | null = null;
  #answer = new AnswerReader();

  constructor(
    private readonly client: net.Socket,
    private readonly world: LinkWorld,
  ) {
    this.#server = world.connect();
    client.setNoDelay(true);
    client.on('data', (chunk) => this.#fromClient(chunk));
    this.#server.on('data', (chunk) => this.#fromServer(chunk));
    for (const socket of [client, this.#server]) socket.on('error', () => this.reset());
    // A client that is gone is gone for the upstream, too: nothing may look as if it still waited.
    client.on('close', () => this.#server.destroy());
    this.#server.on('close', () => client.end());
  }

  reset(): void {
    this.client.resetAndDestroy();
    this.#server.destroy();
  }

  #fromClient(chunk: Buffer): void {
    for (const part of this.#stream.feed(chunk)) {
      switch (part.kind) {
        case 'head':
          this.#begin(part.attemptId);
          this.#head(part.bytes, part.hasBody);
          break;
        case 'body':
          if (this.#armed?.fault.kind !== 'hold_body') this.#server.write(part.bytes);
          break;
        case 'end':
          this.#passed();
      }
    }
  }

  #begin(attemptId: string | null): void {
    const begun = attemptId === null ? null : this.world.begin(attemptId);
    this.#seen = begun?.seen ?? null;
    this.#armed = begun?.fault ?? null;
    this.#answer = new AnswerReader();
  }

  #head(bytes: Buffer, hasBody: boolean): void {
    const text = bytes.toString('latin1').replace(/(\r\nhost:)[^\r]*/i, `$1 ${this.world.host}`);
    const head = Buffer.from(text, 'latin1');
    const held = this.#armed?.fault.kind === 'hold_body';
    // Without a body, its last line end is what makes a request complete.
    this.#server.write(held && !hasBody ? head.subarray(0, -2) : head);
    if (held) this.#strike();
  }

  #passed(): void {
    const kind = this.#armed?.fault.kind;
    if (kind === 'hold_body') return;
    if (this.#seen) this.#seen.passedAt = performance.now();
    if (kind === 'hold_answer') this.#strike();
    if (kind !== 'cut_before_answer') return;
    // The reset must not overtake the request: the upstream gets all of it, and then an end.
    this.#server.end(() => {
      this.#strike();
      this.client.resetAndDestroy();
    });
  }

  #fromServer(chunk: Buffer): void {
    const { fault } = this.#armed ?? {};
    if (this.#seen && (this.#seen.status === null || fault)) this.#read(this.#seen, chunk);
    if (fault === undefined) {
      this.client.write(chunk);
      return;
    }
    if (fault.kind !== 'cut_answer' && fault.kind !== 'replace_answer') return;
    if (!this.#answer.ended || this.client.writableEnded) return;
    this.#strike();
    if (fault.kind === 'cut_answer') this.reset();
    else this.client.end(errorAnswer(fault.status));
  }

  #read(seen: SeenRequest, chunk: Buffer): void {
    this.#answer.feed(chunk);
    if (seen.status === null && this.#answer.status !== null) {
      seen.status = this.#answer.status;
      seen.answeredAt = performance.now();
    }
  }

  #strike(): void {
    this.#armed?.strike({ at: performance.now(), status: this.#seen?.status ?? null, body: this.#answer.body });
  }
}

function errorAnswer(status: number): string {
  const body = JSON.stringify({ error: { code: 'injected', message: `A certificate put ${status} here.` } });
  return (
    `HTTP/1.1 ${status} Injected\r\ncontent-type: application/json\r\nconnection: close\r\n` +
    `content-length: ${body.length}\r\n\r\n${body}`
  );
}
