import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { gauge } from '@intendant/runtime';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Reader } from './authentication.js';
import type { Entry, Feed, Prospect } from './feeds.js';
import { StreamPlaces } from './stream-places.js';

/** Something is sent at least this often, so that both sides notice when the other one is gone. In ms. */
const heartbeatMs = 15_000;
const openStreams = gauge({
  name: 'intendant_event_streams_open',
  help: 'Event streams that clients follow.',
  labels: [],
});

export const eventStreamType = 'text/event-stream';

/** True where the client asks for a stream of events rather than for what there is by now. */
export function wantsStream({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes(eventStreamType) ?? false;
}

/** `Last-Event-ID` as the client sends it when it connects again. */
export function lastEventId({ headers }: FastifyRequest): string | undefined {
  const id = headers['last-event-id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/**
 * Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). Of each client no more is held
 * than what its socket takes and one event: it is written when the one before is on its way.
 */
@Injectable()
export class EventStreams implements OnModuleDestroy {
  private readonly open = new Set<Outlet>();
  private readonly places = new StreamPlaces();

  /** `readingMs`: a client that takes nothing for so long is cut off. */
  constructor(private readonly readingMs: number) {}

  /** Tells all of it until nothing but a correction can follow, the reader's token expires, or the client is gone. @throws Refusal */
  async serve(reply: FastifyReply, feed: Feed, reader: Reader): Promise<void> {
    const leave = this.places.take(reader);
    try {
      const prospect = await feed.prospect();
      // To clients of this protocol: do not connect again.
      if (prospect === 'over') reply.status(204);
      // The head of a stream is had at once; its body never ends.
      else if (reply.request.method === 'HEAD') reply.type(eventStreamType);
      else await this.stream(reply, feed, reader, prospect === 'settled');
    } finally {
      leave();
    }
  }

  onModuleDestroy(): void {
    for (const outlet of this.open) outlet.cut();
  }

  private async stream(reply: FastifyReply, feed: Feed, reader: Reader, isSettled: boolean): Promise<void> {
    reply.hijack();
    const outlet = new Outlet(reply.raw, this.readingMs);
    this.open.add(outlet);
    openStreams.inc();
    const until = reader.kind === 'agent' ? reader.session.expiresAt : Number.POSITIVE_INFINITY;
    try {
      await tell(outlet, feed, until, isSettled);
    } catch {
      // The client connects again and goes on where it was.
      outlet.cut();
    } finally {
      this.open.delete(outlet);
      openStreams.dec();
    }
  }
}

/** `waits`: it is settled, all of it was told before, and the reader goes on for what may yet correct it. */
async function tell(outlet: Outlet, feed: Feed, until: number, waits: boolean): Promise<void> {
  let patient = waits;
  await outlet.send('retry: 1000\n\n');
  while (!outlet.isClosed) {
    let told = false;
    for await (const entry of feed.entries()) {
      told = true;
      patient = false;
      if (!(await outlet.send(frame(entry)))) return;
    }
    if (told) continue;
    const left = until - Date.now();
    if (left <= 0) return outlet.end('token_expired');
    const prospect = await feed.prospect();
    if (prospect === 'over' || (prospect === 'settled' && !patient)) return outlet.end(prospect);
    await feed.news(Math.max(0, Math.min(outlet.silentUntil - Date.now(), left)), outlet.closed);
    if (Date.now() >= outlet.silentUntil) await outlet.send(':\n\n');
  }
}

/** JSON has no line breaks, so one line is enough. */
function frame({ id, type, data }: Entry): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** The response of one client. */
class Outlet {
  private readonly gone = new AbortController();
  /** When it is time to send something again. */
  silentUntil = 0;

  constructor(
    private readonly response: ServerResponse,
    private readonly readingMs: number,
  ) {
    // Somebody who has hung up already does so no more.
    if (response.destroyed) this.gone.abort();
    response.once('close', () => this.gone.abort());
    // Whoever is gone hears nothing of it.
    response.on('error', () => this.gone.abort());
    response.writeHead(200, {
      'content-type': eventStreamType,
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
  }

  get closed(): AbortSignal {
    return this.gone.signal;
  }

  get isClosed(): boolean {
    return this.gone.signal.aborted;
  }

  /** True once the client can take more; false when it is gone, or was cut off since it takes nothing. */
  async send(text: string): Promise<boolean> {
    if (this.isClosed) return false;
    this.silentUntil = Date.now() + heartbeatMs;
    if (this.response.write(text)) return true;
    const stalled = AbortSignal.any([this.closed, AbortSignal.timeout(this.readingMs)]);
    await once(this.response, 'drain', { signal: stalled }).catch(() => this.cut());
    return !this.isClosed;
  }

  /** The last event says why there are no more; it has no id, since there is nothing to go on after. */
  end(reason: Exclude<Prospect, 'open'> | 'token_expired'): void {
    this.response.end(`event: end\ndata: {"reason":"${reason}"}\n\n`);
  }

  cut(): void {
    this.gone.abort();
    this.response.destroy();
  }
}
