import { jetstream } from '@nats-io/jetstream';
import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import type { ClientAnswer } from '../history/clients.js';

const noAnswer: ClientAnswer = {
  ...{ httpStatus: null, intentId: null, status: null, code: null, outcome: null },
  replayed: false,
};

/** A body that a service answers with: a result, a refusal, or both. */
interface Answered {
  readonly intentId?: string;
  /** Of a result the state; of a problem alone, a number. */
  readonly status?: string | number;
  readonly outcome?: string;
  readonly replayed?: boolean;
  readonly error?: { readonly code?: string } | null;
  readonly code?: string;
  readonly data?: unknown;
  /** Of a replay: what became of each. */
  readonly results?: readonly Answered[];
}

/** How agents and operators reach an installation: over HTTP to one of its gateways, and over NATS. */
export class Channel {
  #turn = 0;

  private constructor(
    private readonly gateways: readonly string[],
    readonly nats: NatsConnection,
  ) {}

  static async open(gateways: readonly string[], natsUrls: readonly string[]): Promise<Channel> {
    const nats = await connect({
      servers: [...natsUrls],
      name: 'rig-clients',
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
      pingInterval: 5_000,
    });
    return new Channel(gateways, nats);
  }

  /** Any JSON over HTTP. @throws when there is no answer, or none that can be read */
  async call<T>(
    method: string,
    path: string,
    credential: string,
    options: CallOptions,
  ): Promise<{ status: number; body: T }> {
    const { body, signal, waitS = 0 } = options;
    const gateway = options.gateway ?? this.gateways[this.#turn % this.gateways.length];
    // The next one, so that whoever asks again does not ask one that is dead for ever.
    this.#turn += 1;
    const response = await fetch(`${gateway}${path}`, {
      method,
      signal,
      headers: {
        authorization: `Bearer ${credential}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(waitS > 0 && { prefer: `wait=${waitS}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as T };
  }

  /** The same, read as an answer about an intent. */
  async ask(method: string, path: string, credential: string, options: CallOptions): Promise<ClientAnswer> {
    const { status, body } = await this.call<Answered | null>(method, path, credential, options);
    return { ...answerOf(body), httpStatus: status };
  }

  /** Submits by request; the reply is the result. */
  async request(payload: object, token: string, { signal, waitS = 0 }: CallOptions): Promise<ClientAnswer> {
    const head = bearer(token);
    if (waitS > 0) head.set('Intendant-Wait', `${waitS}s`);
    const reply = this.nats.request('intendant.rpc.submit', JSON.stringify(payload), {
      headers: head,
      timeout: 60_000,
    });
    return answerOf((await orAborted(reply, signal)).json<Answered>());
  }

  /** Submits to the stream: acknowledged means stored for admission. */
  async publish(payload: object, token: string, tenant: string, { signal }: CallOptions): Promise<ClientAnswer> {
    const stored = jetstream(this.nats).publish(`intendant.intents.${tenant}`, JSON.stringify(payload), {
      headers: bearer(token),
      timeout: 60_000,
    });
    await orAborted(stored, signal);
    return noAnswer;
  }

  close(): Promise<void> {
    return this.nats.close();
  }
}

export interface CallOptions {
  readonly body?: unknown;
  readonly signal: AbortSignal;
  /** Base URL of the gateway that is asked; left out, each in turn. */
  readonly gateway?: string;
  /** How long the service is asked to wait for an outcome, in seconds. */
  readonly waitS?: number;
}

function bearer(token: string) {
  const head = headers();
  head.set('Authorization', `Bearer ${token}`);
  return head;
}

/** @throws when `signal` is aborted first */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => undefined);
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(new Error('no answer in time'));
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Replays of dead letters answer with a list of one, everything else with one result. */
function answerOf(body: Answered | null): ClientAnswer {
  const [first] = body?.results ?? [];
  const { intentId, status, outcome, replayed, error, code, data } = first ?? body ?? {};
  return {
    httpStatus: null,
    intentId: intentId ?? null,
    status: typeof status === 'string' ? status : null,
    code: error?.code ?? code ?? null,
    outcome: outcome ?? null,
    replayed: replayed ?? false,
    ...(data != null && { data }),
  };
}
