/** What came back over HTTP; `body` is the parsed JSON, null when there was none. */
export interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

/** No answer came, or half of one: whether the request was taken is not known. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

export interface Request {
  readonly method?: 'GET' | 'POST';
  readonly credential?: string;
  readonly body?: object;
  /** Seconds the server may hold the request until there is an outcome (RFC 7240, `wait`). */
  readonly waitSeconds?: number;
}

/** How long the server may take beyond the wait it was asked for, in ms. */
const patienceMs = 10_000;

/** One JSON request. @throws NoAnswer */
export async function call<T>(url: string, request: Request = {}): Promise<Answer<T>> {
  const { method = 'GET', credential, body, waitSeconds = 0 } = request;
  const headers: Record<string, string> = {};
  if (credential !== undefined) headers['authorization'] = `Bearer ${credential}`;
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (waitSeconds > 0) headers['prefer'] = `wait=${waitSeconds}`;
  try {
    const response = await fetch(url, {
      method,
      headers,
      signal: AbortSignal.timeout(waitSeconds * 1_000 + patienceMs),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as T };
  } catch (error) {
    throw new NoAnswer(`${method} ${new URL(url).pathname}: ${reasonOf(error)}`, { cause: error });
  }
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return 'code' in cause && cause.message === '' ? String(cause.code) : cause.message;
}
