import { IntendantError, NoOutcomeYet } from './errors.js';
import { follow } from './follow.js';
import { type Answer, has, isResult, NoAnswer, parsed, type Question } from './http.js';
import { Patience } from './patience.js';
import type { IntentResult, ResultPage, RunEvent, Status, Tool } from './wire.js';

export interface CallOptions {
  /**
   * The step of the agent runtime, the same whenever the same call is made again, also after a crash and when the model
   * is asked anew. Without it each call is a step of its own; its id is in the result and in {@link NoOutcomeYet}.
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

export interface PartOptions {
  /** JSON Pointer (RFC 6901) into the data. Without it the list that the tool declares, or all of the data. */
  readonly pointer?: string | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
  /** Most items of a list, or members of an object. */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const callWaitMs = 120_000;
const readWaitMs = 30_000;
/** The server waits that long at most for an outcome, in seconds. */
const longestHoldS = 25;
/** How long it may take beyond that, in ms. */
const answerMs = 10_000;
/** Events that are asked for at once. */
const pageSize = 200;

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

  /** The tools that this run may call, as the model may see them. @throws IntendantError, NoAnswer */
  async tools({ query, namespace }: { readonly query?: string; readonly namespace?: string } = {}): Promise<Tool[]> {
    const { body } = await this.read(`/v1/tools${queryOf({ query, namespace })}`, has<{ tools: Tool[] }>('tools'));
    return body.tools;
  }

  /**
   * Calls a tool and waits for its outcome. What gets no answer is sent again, always as the same step, so that it takes
   * effect once at most however often that is. The result says what is known: also that it was denied or failed, and
   * when the time is over, that its outcome is not known yet.
   *
   * @param args an object, or JSON text as a model wrote it, which the gateway then judges as it is
   * @throws IntendantError nothing was recorded: wrong arguments, no such tool, not allowed now
   * @throws NoOutcomeYet nothing has answered in time, or the caller gave up, or the run may not ask any more
   */
  async call<Data = unknown>(
    tool: string,
    args: object | string,
    options: CallOptions = {},
  ): Promise<IntentResult<Data>> {
    const { stepId = crypto.randomUUID(), wait = callWaitMs, signal, toolVersion, sandbox } = options;
    const body = messageOf(args, { tool, stepId, ...(toolVersion && { toolVersion }), ...(sandbox && { sandbox }) });
    const patience = new Patience(wait, signal);
    let first: IntentResult<Data>;
    try {
      first = await this.hold<Data>({ method: 'POST', path: '/v1/intents', body }, patience, signal);
    } catch (error) {
      if (!(error instanceof NoAnswer || signal?.aborted)) throw error;
      throw new NoOutcomeYet(tool, stepId, null, { cause: error });
    }
    return { ...(await this.outcome(first, patience, signal)), replayed: first.replayed };
  }

  /**
   * How an intent stands; with `wait`, in ms, its outcome if it has one by then.
   *
   * @throws IntendantError, NoAnswer
   * @throws NoOutcomeYet the caller gave up, or the run may not ask any more, before there was one
   */
  async intent<Data = unknown>(intentId: string, { wait = 0, signal }: WaitOptions = {}): Promise<IntentResult<Data>> {
    const { body } = await this.read(pathOf(intentId), isResultWith<Data>, signal);
    return this.outcome(body, new Patience(wait, signal), signal);
  }

  /**
   * How everything stands that is recorded as this step so far: nothing, one intent, or one for each tool that was called
   * as it. What got no answer may still be on its way.
   *
   * @throws IntendantError, NoAnswer
   */
  async step(stepId: string): Promise<IntentResult[]> {
    const found: string[] = [];
    const isPage = has<{ events: RunEvent[]; nextCursor: string | null }>('events', 'nextCursor');
    for (let cursor: string | undefined; ; ) {
      const path = `/v1/runs/${this.runId}/events${queryOf({ cursor, limit: pageSize })}`;
      const { events, nextCursor } = (await this.read(path, isPage)).body;
      for (const { type, intentId, proposal } of events) {
        if (type === 'recorded' && (proposal as { stepId?: unknown }).stepId === stepId) found.push(intentId);
      }
      if (events.length < pageSize || nextCursor === null) break;
      cursor = nextCursor;
    }
    return Promise.all(found.map((intentId) => this.intent(intentId)));
  }

  /**
   * Cancels what was not sent yet; what may have been sent ends in what really happened.
   *
   * @throws IntendantError, NoAnswer
   * @throws NoOutcomeYet the caller gave up, or the run may not ask any more, before it had ended
   */
  async cancel<Data = unknown>(intentId: string, { wait = 0, signal }: WaitOptions = {}): Promise<IntentResult<Data>> {
    const question = { method: 'POST', path: `${pathOf(intentId)}/cancel`, body: {}, signal } as const;
    const { body } = await this.insist({ ...question, isAnswer: isResultWith<Data> });
    return this.outcome(body, new Patience(wait, signal), signal);
  }

  /**
   * A part of what a tool answered, where the result shows not all of it.
   *
   * @param handle of the result
   * @throws IntendantError, NoAnswer
   */
  async result<Data = unknown>(handle: string, part: PartOptions = {}): Promise<ResultPage<Data>> {
    const { pointer, cursor, limit, signal } = part;
    const query = queryOf({ pointer, cursor, limit });
    const path = `/v1/results/${encodeURIComponent(handle)}${query}`;
    return (await this.read(path, isPage<Data>, signal)).body;
  }

  /**
   * Everything that happens in the run, from its beginning or after an event, each once and in order. Goes on where it
   * was when the connection breaks; returns when the run is over or `signal` is aborted, and never else.
   *
   * @throws IntendantError the token has expired, or the events may not be read
   */
  events({ after, signal }: EventOptions = {}): AsyncGenerator<RunEvent, void> {
    return follow(`${this.url}/v1/runs/${this.runId}/events`, this.token, after, signal);
  }

  /** Nothing more is admitted afterwards. Needs the service key. @throws IntendantError, NoAnswer */
  close(): Promise<void> {
    return this.closeIt();
  }

  /** Reads it until it has an outcome, or as it stands when the time is over. @throws NoOutcomeYet */
  private async outcome<Data>(
    result: IntentResult<Data>,
    patience: Patience,
    signal: AbortSignal | undefined,
  ): Promise<IntentResult<Data>> {
    let latest = result;
    try {
      while (open.has(latest.status) && patience.leftMs > 0) {
        latest = await this.hold<Data>({ method: 'GET', path: pathOf(result.intentId) }, patience, signal);
      }
      if (open.has(latest.status)) signal?.throwIfAborted();
      return latest;
    } catch (error) {
      if (error instanceof NoAnswer) return latest;
      throw new NoOutcomeYet(latest.tool, latest.stepId, latest, { cause: error });
    }
  }

  /** Asks the server to answer with the outcome if there is one in time; again until it answers. */
  private async hold<Data>(
    question: Pick<Question<unknown>, 'method' | 'path' | 'body'>,
    patience: Patience,
    signal: AbortSignal | undefined,
  ): Promise<IntentResult<Data>> {
    const { body } = await patience.insist(this.url, () => {
      const seconds = Math.min(longestHoldS, Math.ceil(patience.leftMs / 1_000));
      return {
        ...question,
        credential: this.token,
        headers: { prefer: `wait=${seconds}` },
        signal,
        timeoutMs: Math.ceil(Math.min(seconds * 1_000, patience.leftMs)) + answerMs,
        isAnswer: isResultWith<Data>,
      };
    });
    return body;
  }

  private read<T>(path: string, isAnswer: (body: unknown) => body is T, signal?: AbortSignal): Promise<Answer<T>> {
    return this.insist({ method: 'GET', path, isAnswer, signal });
  }

  private insist<T>(question: Omit<Question<T>, 'credential' | 'timeoutMs'>): Promise<Answer<T>> {
    const asked = { ...question, credential: this.token, timeoutMs: answerMs };
    return new Patience(readWaitMs, question.signal).insist(this.url, () => asked);
  }
}

const pathOf = (intentId: string) => `/v1/intents/${encodeURIComponent(intentId)}`;
const isResultWith = <Data>(body: unknown): body is IntentResult<Data> => isResult(body);
const isPage = <Data>(body: unknown): body is ResultPage<Data> => has<ResultPage>('handle', 'kind', 'data')(body);

function queryOf(parameters: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, `${value}`);
  return query.size === 0 ? '' : `?${query}`;
}

/** @throws IntendantError where the text is no JSON: put into the message, it could say anything. */
function messageOf(args: object | string, rest: object): string {
  const text = typeof args === 'string' ? args : JSON.stringify(args);
  if (parsed(text) !== undefined) return `${JSON.stringify(rest).slice(0, -1)},"args":${text}}`;
  throw new IntendantError(400, {
    code: 'invalid_message',
    category: 'validation',
    message: 'The arguments are not JSON. Nothing was recorded; write them as one JSON object.',
    retryable: false,
    nextAction: 'fix_arguments',
    details: {},
  });
}
