import type { ErrorObject } from '@intendant/contracts';
import type { Settings } from './config.js';
import { CommandFailed, type Problem } from './errors.js';

export interface CallOptions {
  /** JSON text, or a value to be sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface ErrorBody {
  readonly intentId?: string;
  readonly error?: ErrorObject;
}

/**
 * Asks the gateway. A recorded intent is an answer whatever its status.
 *
 * @throws CommandFailed with the gateway's own sentence where it refuses, or with why it could not be asked.
 */
export async function call<T>(
  settings: Settings,
  credential: string,
  method: string,
  path: string,
  { body, headers }: CallOptions = {},
): Promise<T> {
  const url = `${settings.url}${path}`;
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${credential}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  }).catch((error: Error) => {
    throw new CommandFailed(
      `No gateway answers at ${settings.url} (${reasonOf(error)}). Start it, or give another --url.`,
    );
  });
  const answer = parse(await response.text(), url);
  const { intentId, error } = answer as ErrorBody;
  if (response.ok || intentId !== undefined) return answer as T;
  const { problems } = (error?.details ?? {}) as { problems?: readonly Problem[] };
  throw new CommandFailed(error?.message ?? `${url} answered ${response.status}.`, error?.nextAction, problems);
}

/** A query string of those values that are given. */
export function queryOf(values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

function parse(text: string, url: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    throw new CommandFailed(`${url} did not answer with JSON; is it a gateway?`);
  }
}

function reasonOf(error: Error): string {
  const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
  return code ?? message;
}
