import type { BenchRequest } from './requests.js';

/** Builds NATS messages that submit, by hand: the load generator must cost a fraction of what it measures. */
export class Frames {
  private readonly authorizations: readonly string[];

  constructor(
    private readonly subject: string,
    private readonly inbox: string,
    tokens: readonly string[],
    /** False for a publication, which nobody waits for. */
    private readonly waits: boolean,
  ) {
    this.authorizations = tokens.map((token) => `NATS/1.0\r\nAuthorization: Bearer ${token}\r\n`);
  }

  /** The bytes of a request whose answer is number `index`. */
  of({ tool, args, step, waitMs }: BenchRequest, index: number): Buffer {
    const wait = this.waits ? `Intendant-Wait: ${waitMs}ms\r\n` : '';
    const headers = `${this.authorizations[step % this.authorizations.length]}${wait}\r\n`;
    const body = JSON.stringify({ tool, args, stepId: `step_${step}` });
    const size = headers.length + Buffer.byteLength(body);
    return Buffer.from(`HPUB ${this.subject} ${this.inbox}${index} ${headers.length} ${size}\r\n${headers}${body}\r\n`);
  }
}
