import { connect } from 'node:net';
import type { Upstream } from './server.js';

/** Bodies that the upstream takes. */
export const REFUND = { order_id: 'ord_1', amount_cents: 2499 };
export const MAIL = { to: 'a@b.example', subject: 'Hello', text: 'It is done.' };

/** Long enough for a loaded machine; nothing waits that long when it works. */
export const WAIT_MS = 5_000;

export interface Exchange {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
}

async function read(response: Response): Promise<Exchange> {
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, body, headers: response.headers };
}

/** A client of the upstream that `current` names at the time of each call; used by specs only. */
export function probe(current: () => Upstream) {
  async function post(
    path: string,
    body: unknown,
    key?: string,
    attemptId?: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Exchange> {
    const response = await fetch(current().url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...headers,
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(attemptId === undefined ? {} : { 'x-attempt-id': attemptId }),
      },
      body: JSON.stringify(body),
    });
    return read(response);
  }

  async function get(path: string): Promise<Exchange> {
    return read(await fetch(current().url + path));
  }

  /** One request over a bare socket: every byte that came back, and how the connection ended. */
  function wire(path: string, body: unknown, key: string): Promise<{ text: string; error: string | null }> {
    const payload = JSON.stringify(body);
    return new Promise((resolve) => {
      const socket = connect(current().port, '127.0.0.1');
      let text = '';
      let error: string | null = null;
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
      });
      socket.on('error', (cause: NodeJS.ErrnoException) => {
        error = cause.code ?? cause.message;
      });
      socket.on('close', () => resolve({ text, error }));
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: upstream\r\nIdempotency-Key: ${key}\r\n` +
          `Content-Length: ${payload.length}\r\n\r\n${payload}`,
      );
    });
  }

  /** How often the key took effect. */
  function effects(key: string): number {
    const entries = current().ledger();
    return entries.filter((entry) => entry.kind === 'effect' && entry.key === key).length;
  }

  return { post, get, wire, effects };
}
