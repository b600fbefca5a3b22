import { expect } from 'vitest';
import { serviceKey } from './stack.js';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every kind are compared as they come
  readonly body: any;
}

export interface HttpQuestion {
  readonly body?: string | Uint8Array<ArrayBuffer> | object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Speaks to a gateway as anybody can, with every header of the answer. */
export class HttpClient {
  constructor(private readonly url: () => string) {}

  async http(
    method: string,
    path: string,
    credential: string | null,
    { body, headers }: HttpQuestion = {},
  ): Promise<HttpAnswer> {
    const raw = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const response = await fetch(this.url() + path, {
      method,
      headers: {
        ...(credential !== null && { authorization: `Bearer ${credential}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: raw }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
  }

  async openRun(over: object = {}): Promise<{ runId: string; token: string }> {
    const budgets = { calls: 1_000, mutating: 1_000, destructive: 100, wallClock: '1h' };
    const body = { user: 'ada', permissions: ['*'], profile: 'interactive', budgets, ...over };
    const opened = await this.http('POST', '/v1/runs', serviceKey, { body });
    expect(opened.status).toBe(201);
    return opened.body;
  }
}
