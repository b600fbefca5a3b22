/** A piece of what a client sends, in order; `end` follows the last byte of each request. */
export type RequestPart =
  | { readonly kind: 'head'; readonly bytes: Buffer; readonly attemptId: string | null; readonly hasBody: boolean }
  | { readonly kind: 'body'; readonly bytes: Buffer }
  | { readonly kind: 'end' };

const blankLine = '\r\n\r\n';

/** Tells the requests on one HTTP/1.1 connection apart (RFC 9112, 6), without changing a byte of them. */
export class RequestStream {
  #rest = Buffer.alloc(0);
  /** Bytes of the body that are still to come; null between requests; a chunked body says it chunk by chunk. */
  #left: number | null = null;
  #chunked = false;

  feed(chunk: Buffer): RequestPart[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const parts: RequestPart[] = [];
    for (let part = this.#next(parts); part; part = this.#next(parts));
    return parts;
  }

  /** True when something was found; what it was is added to `parts`. */
  #next(parts: RequestPart[]): boolean {
    if (this.#left === null) return this.#head(parts);
    if (this.#left > 0) return this.#body(parts, this.#left);
    if (this.#chunked) return this.#chunkSize(parts);
    this.#left = null;
    parts.push({ kind: 'end' });
    return this.#rest.length > 0;
  }

  #head(parts: RequestPart[]): boolean {
    const end = this.#rest.indexOf(blankLine);
    if (end < 0) return false;
    const bytes = this.#take(end + blankLine.length);
    const text = bytes.toString('latin1');
    this.#chunked = /\r\ntransfer-encoding:[^\r]*chunked/i.test(text);
    this.#left = this.#chunked ? 0 : Number(header(text, 'content-length') ?? 0);
    const hasBody = this.#chunked || this.#left > 0;
    parts.push({ kind: 'head', bytes, attemptId: header(text, 'x-attempt-id'), hasBody });
    return true;
  }

  #body(parts: RequestPart[], left: number): boolean {
    if (this.#rest.length === 0) return false;
    const bytes = this.#take(Math.min(left, this.#rest.length));
    this.#left = left - bytes.length;
    parts.push({ kind: 'body', bytes });
    return true;
  }

  /** A chunk is its size, a line end, so many bytes and a line end; one of size 0 with trailers ends the body. */
  #chunkSize(parts: RequestPart[]): boolean {
    const line = this.#rest.indexOf('\r\n');
    if (line < 0) return false;
    const size = Number.parseInt(this.#rest.subarray(0, line).toString('latin1'), 16) || 0;
    if (size > 0) {
      parts.push({ kind: 'body', bytes: this.#take(line + 2) });
      this.#left = size + 2;
      return true;
    }
    // The blank line may be the one right after the size: there need not be trailers.
    const end = this.#rest.indexOf(blankLine, line);
    if (end < 0) return false;
    parts.push({ kind: 'body', bytes: this.#take(end + blankLine.length) });
    this.#chunked = false;
    return true;
  }

  #take(length: number): Buffer {
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }
}

function header(head: string, name: string): string | null {
  return new RegExp(`\\r\\n${name}:[ \\t]*([^\\r]*?)[ \\t]*\\r\\n`, 'i').exec(head)?.[1] ?? null;
}
