import type { JsMsg } from '@nats-io/jetstream';
import { type MessageHeaders, readHeaders, type WorkMessage } from './messages.js';

/** Signs of work sent for one message; then it is left to be delivered again, as its handler seems to hang. */
const longestExtension = 20;

/** One delivered message while its handler runs. Exactly one answer goes back to the server. */
export class WorkInHand implements WorkMessage {
  readonly headers: MessageHeaders;
  private answered = false;
  private extensions = 0;

  constructor(private readonly message: JsMsg) {
    this.headers = readHeaders(message.headers);
  }

  get subject(): string {
    return this.message.subject;
  }

  get payload(): Uint8Array {
    return this.message.data;
  }

  get id(): string {
    return `${this.message.info.stream}:${this.message.seq}`;
  }

  get storedAt(): number {
    return Math.floor(this.message.info.timestampNanos / 1_000_000);
  }

  get deliveries(): number {
    return this.message.info.deliveryCount;
  }

  ack(): void {
    this.answer(() => this.message.ack());
  }

  later(delayMs: number): void {
    this.giveBack(delayMs);
  }

  /** Gives it back; returns false when it was acknowledged before. */
  giveBack(delayMs: number): boolean {
    if (this.answered) return false;
    this.answer(() => this.message.nak(delayMs));
    return true;
  }

  /** Tells the server that it is being worked on, so that `ack_wait` starts anew. */
  extend(): void {
    if (this.answered || this.extensions >= longestExtension) return;
    this.extensions += 1;
    ignoringClosed(() => this.message.working());
  }

  private answer(send: () => void): void {
    if (this.answered) return;
    this.answered = true;
    ignoringClosed(send);
  }
}

/** On a closed connection no answer can be sent, and none is needed: the server delivers the message again. */
function ignoringClosed(send: () => void): void {
  try {
    send();
  } catch {
    // See above.
  }
}
