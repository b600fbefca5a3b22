import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Refusal } from '@intendant/contracts';
import { gauge } from '@intendant/runtime';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Reader } from './authentication.js';
import type { Entry, Feed } from './feeds.js';

/** Streams that one process keeps open, and those of one run among them. */
const mostStreams = 5_000;
const mostOfRun = 32;
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

  /** `readingMs`: a client that takes nothing for so long is cut off. */
  constructor(private readonly readingMs: number) {}

  /** Tells all of it until it is over, the reader's token expires, or the client is gone. @throws Refusal */
  async serve(reply: FastifyReply, feed: Feed, reader: Reader): Promise<void> {
    const runId = reader.kind === 'agent' ? reader.session.runId : null;
    this.refuseTooMany(runId);
    // To clients of this protocol: do not connect again.
    if (await feed.isOver()) return void reply.status(204);
    reply.hijack();
    const outlet = new Outlet(reply.raw, runId, this.readingMs);
    this.open.add(outlet);
    openStreams.inc();
    try {
      await tell(outlet, feed, reader.kind === 'agent' ? reader.session.expiresAt : Number.POSITIVE_INFINITY);
    } catch {
      // The client connects again and goes on where it was.
      outlet.cut();
    } finally {
      this.open.delete(outlet);
      openStreams.dec();
    }
  }

  onModuleDestroy(): void {
    for (const outlet of this.open) outlet.cut();
  }

  private refuseTooMany(runId: string | null): void {
    let same = 0;
    for (const outlet of this.open) if (outlet.runId === runId) same += 1;
    if (runId !== null && same >= mostOfRun) {
      throw new Refusal('rate_limited', `${mostOfRun} event streams of this run are open already. Close one of them.`);
    }
    if (this.open.size >= mostStreams) throw new Refusal('unavailable', 'Too many event streams are open here.');
  }
}

async function tell(outlet: Outlet, feed: Feed, until: number): Promise<void> {
  await outlet.send('retry: 1000\n\n');
  while (!outlet.isClosed) {
    let told = false;
    for await (const entry of feed.entries()) {
      told = true;
      if (!(await outlet.send(frame(entry)))) return;
    }
    if (told) continue;
    const left = until - Date.now();
    if (left <= 0) return outlet.end('token_expired');
    if (await feed.isOver()) return outlet.end('over');
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
    /** Of the agent that reads it; null: an operator does. */
    readonly runId: string | null,
    private readonly readingMs: number,
  ) {
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
  end(reason: 'over' | 'token_expired'): void {
    this.response.end(`event: end\ndata: {"reason":"${reason}"}\n\n`);
  }

  cut(): void {
    this.gone.abort();
    this.response.destroy();
  }
}
