import { IntendantError, NoOutcomeYet } from './errors.js';
import { readMessages } from './event-source.js';
import { type Answer, ask, NoAnswer, type Question } from './http.js';
import { Patience } from './patience.js';
import type { ErrorObject, IntentResult, RunEvent, Status, Tool } from './wire.js';

export interface CallOptions {
  /**
   * The step of the agent runtime, the same whenever the same call is made again: the id of the model's tool call is
   * one. Without it each call is a step of its own; its id is in the result and in {@link NoOutcomeYet}.
   */
  readonly stepId?: string;
  /** How long to wait for an outcome, in ms; two minutes without it. */
  readonly wait?: number;
  /** Ends the waiting, not the call. */
  readonly signal?: AbortSignal;
  readonly toolVersion?: number;
  readonly sandbox?: boolean;
}

export interface WaitOptions {
  readonly wait?: number;
  readonly signal?: AbortSignal;
}

export interface EventOptions {
  /** Id of the last event that is known already. */
  readonly after?: string;
  readonly signal?: AbortSignal;
}

const callWaitMs = 120_000;
const readWaitMs = 30_000;
/** The server waits that long at most for an outcome, in seconds. */
const longestHoldS = 25;
/** How long it may take beyond that, in ms. */
const answerMs = 10_000;
/** A stream on which not even a heartbeat comes for that long is dead, in ms. */
const silentMs = 45_000;

const open: ReadonlySet<Status> = new Set([
  'pending',
  'awaiting_approval',
  'authorized',
  'dispatching',
  'accepted',
  'unknown',
]);

/** One run of an agent. Needs its token and nothing else, but for `close`. */
export class Run {
  constructor(
    private readonly url: string,
    readonly runId: string,
    readonly token: string,
    private readonly closeIt: () => Promise<void>,
  ) {}

  /** The tools that this run may call, as the model may see them. @throws IntendantError */
  async tools({ query, namespace }: { readonly query?: string; readonly namespace?: string } = {}): Promise<Tool[]> {
    const search = new URLSearchParams({ ...(query && { query }), ...(namespace && { namespace }) }).toString();
    const path = `/v1/tools${search && `?${search}`}`;
    const { body } = await this.insist<{ tools: Tool[] }>({ method: 'GET', path });
    return body.tools;
  }

  /**
   * Calls a tool and waits for its outcome. What gets no answer is sent again, always as the same step, so that it takes
   * effect once at most however often that is. The result says what is known: also that it was denied or failed, and
   * when the time is over, that its outcome is not known yet.
   *
   * @throws IntendantError nothing was recorded: wrong arguments, no such tool, not allowed now
   * @throws NoOutcomeYet nothing has answered in time, or the caller gave up
   */
  async call<Data = unknown>(tool: string, args: object, options: CallOptions = {}): Promise<IntentResult<Data>> {
    const { stepId = crypto.randomUUID(), wait = callWaitMs, signal, toolVersion, sandbox } = options;
    const message = { tool, args, stepId, ...(toolVersion && { toolVersion }), ...(sandbox && { sandbox }) };
    const patience = new Patience(wait, signal);
    let first: IntentResult<Data> | null = null;
    try {
      first = await this.hold<Data>({ method: 'POST', path: '/v1/intents', body: message }, patience, signal);
      return { ...(await this.outcome(first, patience, signal)), replayed: first.replayed };
    } catch (error) {
      if (error instanceof NoAnswer || signal?.aborted) throw new NoOutcomeYet(stepId, first, { cause: error });
      throw error;
    }
  }

  /** How an intent stands; with `wait`, in ms, its outcome if it has one by then. @throws IntendantError, NoAnswer */
  async intent<Data = unknown>(intentId: string, { wait = 0, signal }: WaitOptions = {}): Promise<IntentResult<Data>> {
    const { body } = await this.insist<IntentResult<Data>>({ method: 'GET', path: pathOf(intentId), signal });
    return this.outcome(body, new Patience(wait, signal), signal);
  }

  /** Cancels what was not sent yet; what may have been sent ends in what really happened. @throws IntendantError, NoAnswer */
  async cancel<Data = unknown>(intentId: string, { wait = 0, signal }: WaitOptions = {}): Promise<IntentResult<Data>> {
    const path = `${pathOf(intentId)}/cancel`;
    const { body } = await this.insist<IntentResult<Data>>({ method: 'POST', path, body: {}, signal });
    return this.outcome(body, new Patience(wait, signal), signal);
  }

  /**
   * Everything that happens in the run, from its beginning or after an event, each once and in order. Goes on where it
   * was when the connection breaks; ends when the run is over, its token expires, or the caller stops.
   *
   * @throws IntendantError
   */
  async *events({ after, signal }: EventOptions = {}): AsyncGenerator<RunEvent, void> {
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
        const body = await this.connect(last, signal ? AbortSignal.any([signal, silence.signal]) : silence.signal);
        if (body === null) return;
        for await (const { id, event, data } of readMessages(body, heard)) {
          if (event === 'end') return;
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

  /** Nothing more is admitted afterwards. Needs the service key. @throws IntendantError, NoAnswer */
  close(): Promise<void> {
    return this.closeIt();
  }

  /** Null: there is nothing more to come. */
  private async connect(after: string | undefined, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
    const response = await fetch(`${this.url}/v1/runs/${this.runId}/events`, {
      headers: {
        accept: 'text/event-stream',
        authorization: `Bearer ${this.token}`,
        ...(after !== undefined && { 'last-event-id': after }),
      },
      signal,
    });
    if (response.status === 204) return null;
    if (response.ok && response.body) return response.body;
    const { error } = (await response.json()) as { error?: ErrorObject };
    if (error && !error.retryable) throw new IntendantError(response.status, error);
    throw new NoAnswer(`The events were answered with ${response.status}.`, 0);
  }

  /** Reads it until it has an outcome, or as it stands when the time is over. */
  private async outcome<Data>(
    result: IntentResult<Data>,
    patience: Patience,
    signal: AbortSignal | undefined,
  ): Promise<IntentResult<Data>> {
    let latest = result;
    while (open.has(latest.status) && patience.leftMs > 0) {
      try {
        latest = await this.hold<Data>({ method: 'GET', path: pathOf(result.intentId) }, patience, signal);
      } catch (error) {
        if (error instanceof NoAnswer && !signal?.aborted) return latest;
        throw error;
      }
    }
    signal?.throwIfAborted();
    return latest;
  }

  /** Asks the server to answer with the outcome if there is one in time; again until it answers. */
  private async hold<Data>(
    question: Pick<Question, 'method' | 'path' | 'body'>,
    patience: Patience,
    signal: AbortSignal | undefined,
  ): Promise<IntentResult<Data>> {
    const { body } = await patience.insist(() => {
      const seconds = Math.min(longestHoldS, Math.ceil(patience.leftMs / 1_000));
      return ask<IntentResult<Data>>(this.url, {
        ...question,
        credential: this.token,
        headers: { prefer: `wait=${seconds}` },
        signal,
        timeoutMs: Math.ceil(Math.min(seconds * 1_000, patience.leftMs)) + answerMs,
      });
    });
    return body;
  }

  private insist<T>(question: Pick<Question, 'method' | 'path' | 'body' | 'signal'>): Promise<Answer<T>> {
    const patience = new Patience(readWaitMs, question.signal);
    return patience.insist(() => ask<T>(this.url, { ...question, credential: this.token, timeoutMs: answerMs }));
  }
}

const pathOf = (intentId: string) => `/v1/intents/${encodeURIComponent(intentId)}`;
