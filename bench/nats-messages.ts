export interface NatsMessage {
  readonly subject: string;
  /** Empty when no answer is expected. */
  readonly replyTo: string;
  /** Headers, if any, and payload. */
  readonly body: Buffer;
  /** The services answer with headers only when they refuse. */
  readonly hasHeaders: boolean;
}

export interface NatsEvents {
  readonly onMessage: (message: NatsMessage) => void;
  readonly onPing: () => void;
  readonly onError: (line: string) => void;
}

/** Cuts the byte stream of a NATS connection into messages (NATS client protocol, `MSG`, `HMSG`, `PING`, `-ERR`). */
export class NatsMessages {
  private rest: Buffer = Buffer.alloc(0);

  constructor(private readonly events: NatsEvents) {}

  push(chunk: Buffer): void {
    const data = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    let at = 0;
    for (;;) {
      const next = this.one(data, at);
      if (next === null) break;
      at = next;
    }
    this.rest = data.subarray(at);
  }

  /** Reads what begins at `at`; returns where it ends, or null when not all of it is there. */
  private one(data: Buffer, at: number): number | null {
    const lineEnd = data.indexOf('\r\n', at);
    if (lineEnd < 0) return null;
    const line = data.toString('latin1', at, lineEnd);
    const words = line.split(' ');
    if (words[0] === 'MSG' || words[0] === 'HMSG') {
      const end = lineEnd + 2 + Number(words.at(-1));
      if (data.length < end + 2) return null;
      const hasHeaders = words[0] === 'HMSG';
      const replyTo = words.length > (hasHeaders ? 5 : 4) ? (words[3] ?? '') : '';
      this.events.onMessage({ subject: words[1] ?? '', replyTo, body: data.subarray(lineEnd + 2, end), hasHeaders });
      return end + 2;
    }
    if (words[0] === 'PING') this.events.onPing();
    if (words[0] === '-ERR') this.events.onError(line);
    return lineEnd + 2;
  }
}
