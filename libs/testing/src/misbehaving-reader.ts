/** A request as it came over the wire; header names in lower case. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Number of the connection it came over, from 1. */
  readonly connection: number;
  /** What of the body has arrived so far; filled up as more comes. */
  readonly body: { text: string };
}

type Head = Omit<SeenRequest, 'connection'>;

export interface ReaderEvents {
  readonly onHeaders: (request: Head) => void;
  readonly onRequest: () => void;
}

/** Cuts a byte stream into HTTP/1.1 requests with `Content-Length`, and tells when headers and when bodies are complete. */
export class RequestReader {
  #buffer = Buffer.alloc(0);
  #open: { readonly head: Head; missing: number } | null = null;

  constructor(private readonly events: ReaderEvents) {}

  push(chunk: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, chunk]);
    while (this.#readHead() || this.#readBody());
  }

  /** True when there was something to read. */
  #readHead(): boolean {
    const end = this.#buffer.indexOf('\r\n\r\n');
    if (this.#open !== null || end < 0) return false;
    const [first = '', ...lines] = this.#buffer.toString('latin1', 0, end).split('\r\n');
    this.#buffer = this.#buffer.subarray(end + 4);
    const [method = '', path = ''] = first.split(' ');
    const headers = Object.fromEntries(lines.map(parseLine));
    const head = { method, path, headers, body: { text: '' } };
    this.#open = { head, missing: Number(headers['content-length'] ?? 0) };
    this.events.onHeaders(head);
    return true;
  }

  #readBody(): boolean {
    if (this.#open === null) return false;
    const part = this.#buffer.subarray(0, this.#open.missing);
    this.#buffer = this.#buffer.subarray(part.length);
    this.#open.missing -= part.length;
    this.#open.head.body.text += part.toString('utf8');
    if (this.#open.missing > 0) return false;
    this.#open = null;
    this.events.onRequest();
    return true;
  }
}

function parseLine(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}
