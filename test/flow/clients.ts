import type { ErrorObject, IntentResult } from '@intendant/contracts';
import { jetstream } from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';

export interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

async function call<T>(
  url: string,
  method: string,
  credential: string,
  body?: unknown,
  extra: Record<string, string> = {},
): Promise<Answer<T>> {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${credential}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...extra,
    },
    ...(body === undefined ? {} : { body: isRaw(body) ? (body as string) : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as T };
}

const isRaw = (body: unknown) => typeof body === 'string' || body instanceof Uint8Array;

type SubmitAnswer = IntentResult & { error: ErrorObject | null };

/** What an agent can do: its run token and nothing else. Over NATS unless the name says HTTP. */
export class Agent {
  constructor(
    private readonly nats: NatsConnection,
    private readonly url: () => string,
    readonly runId: string,
    readonly token: string,
  ) {}

  /** Submits by request; the answer is the result, or `{ error }` of a refusal. */
  submit(tool: string, args: unknown, options: { stepId?: string; wait?: string } = {}): Promise<SubmitAnswer> {
    const { stepId, wait } = options;
    return this.request(JSON.stringify({ tool, args, ...(stepId && { stepId }) }), wait);
  }

  /** Any bytes as the message. */
  async request(payload: string | Uint8Array, wait?: string, token = this.token): Promise<SubmitAnswer> {
    const head = authorization(token);
    if (wait) head.set('Intendant-Wait', wait);
    const reply = await this.nats.request('intendant.rpc.submit', payload, { headers: head, timeout: 35_000 });
    return reply.json();
  }

  /** Publishes to JetStream; resolves when it is stored for admission. */
  async publish(payload: string | Uint8Array, tenant = 'acme', token = this.token): Promise<void> {
    await jetstream(this.nats).publish(`intendant.intents.${tenant}`, payload, { headers: authorization(token) });
  }

  postHttp(body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Answer<SubmitAnswer>> {
    return call(`${this.url()}/v1/intents`, 'POST', this.token, body, headers);
  }

  getHttp<T = SubmitAnswer>(path: string, headers: Record<string, string> = {}): Promise<Answer<T>> {
    return call(`${this.url()}${path}`, 'GET', this.token, undefined, headers);
  }

  cancelHttp(intentId: string): Promise<Answer<SubmitAnswer>> {
    return call(`${this.url()}/v1/intents/${intentId}/cancel`, 'POST', this.token, {});
  }
}

function authorization(token: string) {
  const head = headers();
  head.set('Authorization', `Bearer ${token}`);
  return head;
}

export class Operator {
  constructor(
    private readonly url: () => string,
    private readonly key: string,
  ) {}

  get<T>(path: string): Promise<Answer<T>> {
    return call(`${this.url()}${path}`, 'GET', this.key);
  }

  post<T>(path: string, body: unknown = {}): Promise<Answer<T>> {
    return call(`${this.url()}${path}`, 'POST', this.key, body);
  }

  put<T>(path: string, body: unknown): Promise<Answer<T>> {
    return call(`${this.url()}${path}`, 'PUT', this.key, body);
  }

  delete<T>(path: string): Promise<Answer<T>> {
    return call(`${this.url()}${path}`, 'DELETE', this.key);
  }
}
