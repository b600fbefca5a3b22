import { IntendantError } from './errors.js';
import { readMessages } from './event-source.js';
import { errorIn, NoAnswer, parsed } from './http.js';
import { Patience } from './patience.js';
import type { RunEvent } from './wire.js';

/** A stream on which not even a heartbeat comes for that long is dead, in ms. */
const silentMs = 45_000;

/** The events at `url`, over as many connections as it takes. @throws IntendantError */
export async function* follow(
  url: string,
  credential: string,
  after: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<RunEvent, void> {
  let last = after;
  let patience = new Patience(Number.POSITIVE_INFINITY, signal);
  while (!signal?.aborted) {
    const silence = new AbortController();
    const dead = () => silence.abort();
    let timer = setTimeout(dead, silentMs);
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(dead, silentMs);
    };
    try {
      const either = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
      const body = await connect(url, credential, last, either);
      if (body === null) return;
      for await (const { id, event, data } of readMessages(body, heard)) {
        if (event === 'end') {
          // Whoever asks again with a token that has expired is told so by an error.
          if (JSON.parse(data).reason === 'token_expired') break;
          return;
        }
        if (id === null) continue;
        yield { ...JSON.parse(data), id };
        last = id;
        patience = new Patience(Number.POSITIVE_INFINITY, signal);
      }
    } catch (error) {
      if (error instanceof IntendantError) throw error;
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
    await patience.pause();
  }
}

/** Null: there is nothing more to come. @throws IntendantError, NoAnswer */
async function connect(
  url: string,
  credential: string,
  after: string | undefined,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array> | null> {
  const response = await fetch(url, {
    headers: {
      accept: 'text/event-stream',
      authorization: `Bearer ${credential}`,
      ...(after !== undefined && { 'last-event-id': after }),
    },
    signal,
  });
  if (response.status === 204) return null;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (response.ok && isStream && response.body) return response.body;
  const error = errorIn(parsed(await response.text()));
  if (error && !error.retryable) throw new IntendantError(response.status, error);
  throw new NoAnswer(`The events were answered with ${response.status}.`, 0);
}
