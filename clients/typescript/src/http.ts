import { IntendantError } from './errors.js';
import type { ErrorObject, IntentResult } from './wire.js';

/** No answer came, or half of one, or one of somebody in between: whether the request was taken is not known. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';

  constructor(
    message: string,
    /** When to try again at the earliest, in ms. */
    readonly retryAfterMs: number,
    options?: ErrorOptions,
    /** False: nothing was listening, so that nothing can have been taken. */
    readonly sent = true,
  ) {
    super(message, options);
  }
}

export interface Question<T> {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly credential: string;
  /** An object, or JSON text. */
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Longest time until the answer is there, in ms. */
  readonly timeoutMs: number;
  /** Whether it answers the question; what somebody in between makes up does not, whatever its status. */
  readonly isAnswer: (body: unknown) => body is T;
}

export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

/** HTTP statuses that say nothing about what was asked for. */
const noWord = new Set([408, 425, 500, 502, 503, 504]);
/** Errors of a connection that was never made. */
const neverSent = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

/** One request, once. @throws NoAnswer, IntendantError */
export async function ask<T>(url: string, question: Question<T>): Promise<Answer<T>> {
  const { method, path, credential, body, headers, signal, timeoutMs, isAnswer } = question;
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
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    text = await response.text();
  } catch (error) {
    signal?.throwIfAborted();
    const { code, reason } = causeOf(error);
    throw new NoAnswer(`${method} ${path} got no answer: ${reason}`, 0, { cause: error }, !neverSent.has(code));
  }
  const { status, ok } = response;
  const value = parsed(text);
  // Of an intent that was recorded, the error is part of its result.
  if (isAnswer(value) && (ok || isResult(value))) return { status, headers: response.headers, body: value };
  const error = errorIn(value);
  if (error === null || noWord.has(status)) {
    const seconds = Number(response.headers.get('retry-after') ?? 0);
    throw new NoAnswer(
      `${method} ${path} was answered with ${status}: ${error?.message ?? `not by Intendant (${text.slice(0, 200)})`}`,
      Number.isFinite(seconds) ? seconds * 1_000 : 0,
    );
  }
  throw new IntendantError(status, error);
}

/** True of objects with all of these members. */
export function has<T>(...members: (keyof T & string)[]): (value: unknown) => value is T {
  return (value): value is T => isObject(value) && members.every((member) => member in value);
}

export const isResult = has<IntentResult>('intentId', 'status', 'outcome', 'replayed');

/** The error object of an answer; null where there is none. */
export function errorIn(value: unknown): ErrorObject | null {
  const isError = has<ErrorObject>('code', 'message', 'nextAction', 'retryable');
  return isObject(value) && isError(value['error']) ? value['error'] : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

export function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `fetch failed` says nothing; its cause does. */
function causeOf(error: unknown): { code: string; reason: string } {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const code = String((cause as { code?: unknown } | null)?.code ?? '');
  return { code, reason: cause instanceof Error ? cause.message || code : String(cause) };
}
