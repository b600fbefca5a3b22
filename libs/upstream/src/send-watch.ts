import { subscribe } from 'node:diagnostics_channel';
import { attemptHeader } from './http-request.js';

interface SendHeaders {
  readonly request: { readonly headers: readonly unknown[] };
}

const watched = new Map<string, () => void>();
let subscribed = false;

/**
 * Calls `onSend` in the tick in which undici hands the header bytes of the attempt to its socket; measured, the channel
 * fires exactly then. One subscription serves all attempts of the process; the result ends the watch.
 */
export function watchSend(attemptId: string, onSend: () => void): () => void {
  if (!subscribed) {
    subscribed = true;
    subscribe('undici:client:sendHeaders', (message) => notify(message as SendHeaders));
  }
  watched.set(attemptId, onSend);
  return () => watched.delete(attemptId);
}

/** The channel also reports requests of others, such as the global `fetch`; those are nobody's attempt. */
function notify({ request }: SendHeaders): void {
  const { headers } = request;
  const attemptId = headers[headers.indexOf(attemptHeader) + 1];
  if (typeof attemptId === 'string') watched.get(attemptId)?.();
}
