import { IntendantError } from './errors.js';
import type { ErrorObject } from './wire.js';

/** No answer came, or half of one, or one of somebody in between: whether the request was taken is not known. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';

  constructor(
    message: string,
    /** When to try again at the earliest, in ms. */
    readonly retryAfterMs: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export interface Question {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly credential: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Longest time until the answer is there, in ms. */
  readonly timeoutMs: number;
}

export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

/** HTTP statuses that say nothing about what was asked for. */
const noWord = new Set([408, 425, 500, 502, 503, 504]);

/** One request, once. @throws NoAnswer, IntendantError */
export async function ask<T>(url: string, question: Question): Promise<Answer<T>> {
  const { method, path, credential, body, headers, signal, timeoutMs } = question;
  const timeout = AbortSignal.timeout(timeoutMs);
  let response: Response;
  let text: string;
  try {
    response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${credential}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    text = await response.text();
  } catch (error) {
    signal?.throwIfAborted();
    throw new NoAnswer(`${method} ${path} got no answer: ${reasonOf(error)}`, 0, { cause: error });
  }
  const { status } = response;
  const value = parsed(text);
  const error = errorIn(value);
  // Of an intent that was recorded, the error is part of its result.
  if (isObject(value) && 'intentId' in value) return { status, headers: response.headers, body: value as T };
  if (noWord.has(status) || (value === undefined && text !== '')) {
    const seconds = Number(response.headers.get('retry-after') ?? 0);
    throw new NoAnswer(
      `${method} ${path} was answered with ${status}: ${error?.message ?? text.slice(0, 200)}`,
      Number.isFinite(seconds) ? seconds * 1_000 : 0,
    );
  }
  if (error) throw new IntendantError(status, error);
  if (!response.ok) throw new NoAnswer(`${method} ${path} was answered with ${status} by somebody else.`, 0);
  return { status, headers: response.headers, body: value as T };
}

function errorIn(value: unknown): ErrorObject | null {
  return isObject(value) && isObject(value['error']) ? (value['error'] as unknown as ErrorObject) : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message || String((cause as { code?: unknown }).code) : String(cause);
}
