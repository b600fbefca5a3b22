/** Reads one HTTP/1.1 answer as far as it is there (RFC 9112). */
export class AnswerReader {
  status: number | null = null;
  /** The body; null as long as it is not whole, or where only its framing could tell. */
  body: string | null = null;
  /** Nothing more has to be waited for. */
  ended = false;
  #bytes = Buffer.alloc(0);

  feed(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    for (let end = this.#headEnd(); this.status === null && end >= 0; end = this.#headEnd()) {
      const head = this.#bytes.subarray(0, end).toString('latin1');
      this.#bytes = this.#bytes.subarray(end);
      const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0);
      // 1xx only announces an answer (RFC 9110, 15.2).
      if (status >= 100 && status < 200) continue;
      this.status = status;
      this.#length = Number(/\r\ncontent-length:[ \t]*(\d+)/i.exec(head)?.[1] ?? Number.NaN);
    }
    if (this.status === null) return;
    if (Number.isNaN(this.#length)) this.ended = true;
    else if (this.#bytes.length >= this.#length) {
      this.body = this.#bytes.subarray(0, this.#length).toString('utf8');
      this.ended = true;
    }
  }

  /** NaN where the answer does not say. */
  #length = Number.NaN;

  /** End of the first head, its blank line included; -1 as long as it is not there. */
  #headEnd(): number {
    const blank = this.#bytes.indexOf('\r\n\r\n');
    return blank < 0 ? -1 : blank + 4;
  }
}
