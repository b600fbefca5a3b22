import { type ErrorObject, errorObject, Refusal } from '@intendant/contracts';
import { Empty, type Msg, type MsgHdrs, type Subscription } from '@nats-io/transport-node';
import { Logger } from '@nestjs/common';
import type { Bus } from './bus.js';
import { type RpcRequest, readHeaders, writeHeaders } from './messages.js';
import { Signal } from './signal.js';

/** Name of the reply header that carries the error code; absent on success. */
export const errorHeader = 'Intendant-Error';

/**
 * One group over all processes, whatever they are called: a request goes to one of them even when a service runs
 * alone beside a process that hosts all services.
 */
const queue = 'intendant';

/**
 * A reply is published with the rights of this service, to wherever the request says. Without this, whoever may ask
 * could have us write to the JetStream API or to our own subjects.
 */
const forbiddenReply = /^(\$|intendant\.)/;

/** Answers the requests on one subject with a handler; every request gets exactly one reply. */
export class RequestServer {
  private readonly logger = new Logger(RequestServer.name);
  private readonly idle = new Signal();
  private subscription: Subscription | undefined;
  private running = 0;

  constructor(
    private readonly bus: Bus,
    private readonly subject: string,
    /** Requests handled at once; more are refused, because each one waiting costs memory. */
    private readonly limit: number,
    private readonly handle: (request: RpcRequest) => Promise<unknown>,
  ) {}

  start(): void {
    this.subscription = this.bus.connection.subscribe(this.subject, {
      queue,
      // An error or a wait in here would stop the subscription for everybody.
      callback: (error, message) => {
        if (error) this.logger.error(`requests on ${this.subject} ended: ${error.message}`);
        else void this.answer(message);
      },
    });
  }

  /** Takes no new requests, and waits for those that arrived. */
  async stop(): Promise<void> {
    if (this.bus.status() === 'connected') await this.subscription?.drain().catch(() => undefined);
    else this.subscription?.unsubscribe();
    while (this.running > 0) await this.idle.next();
  }

  private async answer(message: Msg): Promise<void> {
    if (forbiddenReply.test(message.reply ?? '')) {
      this.logger.warn(`request on ${this.subject} not taken: it wants its reply on ${message.reply}`);
      return;
    }
    if (this.running >= this.limit) {
      const text = 'Too many requests are being handled. Nothing was done; send it again shortly.';
      this.refuse(message, errorObject('unavailable', text, { recorded: false }));
      return;
    }
    this.running += 1;
    try {
      const headers = readHeaders(message.headers);
      const result = await this.handle({ subject: message.subject, payload: message.data, headers });
      message.respond(encode(result));
    } catch (error) {
      this.refuse(message, this.toError(error));
    } finally {
      this.running -= 1;
      this.idle.notify();
    }
  }

  private refuse(message: Msg, error: ErrorObject): void {
    this.respond(message, JSON.stringify({ error }), writeHeaders({ [errorHeader]: error.code }));
  }

  private respond(message: Msg, body: string, headers: MsgHdrs): void {
    try {
      message.respond(body, { headers });
    } catch (error) {
      this.logger.error(`reply on ${this.subject} not sent: ${String(error)}`);
    }
  }

  private toError(error: unknown): ErrorObject {
    if (error instanceof Refusal) return error.error;
    this.logger.error(`request on ${this.subject} failed: ${error instanceof Error ? error.stack : String(error)}`);
    return errorObject('internal', 'The request failed inside Intendant; the log of the service says why.');
  }
}

function encode(result: unknown): string | Uint8Array {
  if (result === undefined) return Empty;
  if (typeof result === 'string' || result instanceof Uint8Array) return result;
  return JSON.stringify(result);
}
