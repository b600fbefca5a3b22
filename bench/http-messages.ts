/** A complete HTTP/1.1 message: start line with headers, and body. */
export type OnMessage = (head: string, body: Buffer) => void;

/**
 * Cuts the byte stream of one connection into HTTP/1.1 messages that announce their length. It knows nothing of
 * chunked bodies: both ends of the benchmark send `Content-Length`, and anything cleverer would cost time.
 */
export class HttpMessages {
  private rest: Buffer = Buffer.alloc(0);

  constructor(private readonly onMessage: OnMessage) {}

  push(chunk: Buffer): void {
    let data = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    for (;;) {
      const headEnd = data.indexOf('\r\n\r\n');
      if (headEnd < 0) break;
      const head = data.toString('latin1', 0, headEnd + 2);
      const end = headEnd + 4 + Number(header(head, 'content-length') ?? 0);
      if (data.length < end) break;
      this.onMessage(head, data.subarray(headEnd + 4, end));
      data = data.subarray(end);
    }
    this.rest = data;
  }
}

const patterns = new Map<string, RegExp>();

/** Value of a header; `head` ends with CRLF, the name is matched without regard to case. */
export function header(head: string, name: string): string | undefined {
  let pattern = patterns.get(name);
  if (!pattern) {
    pattern = new RegExp(`\\r\\n${name}: *([^\\r]*)\\r\\n`, 'i');
    patterns.set(name, pattern);
  }
  return pattern.exec(head)?.[1];
}

/** A message with its length, over a connection that stays open. */
export function httpMessage(startLine: string, body: string, headers: readonly string[] = []): Buffer {
  const lines = [startLine, 'Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`, ...headers];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
