import { has } from './http.js';
import { Patience } from './patience.js';
import { Run } from './run.js';
import type { NewRun, OpenedRun } from './wire.js';

export interface IntendantOptions {
  /** Base URL of the gateway. */
  readonly url: string;
  /** Of a trusted agent runtime; opens and closes runs. Never give it to a model. */
  readonly serviceKey?: string;
}

const patienceMs = 30_000;
const answerMs = 30_000;

/** An installation of Intendant, as an agent runtime sees it. */
export class Intendant {
  private readonly url: string;
  readonly #serviceKey: string | undefined;

  constructor({ url, serviceKey }: IntendantOptions) {
    this.url = url.replace(/\/+$/, '');
    this.#serviceKey = serviceKey;
  }

  /**
   * Says who acts and what is permitted, before the model is asked anything. A run whose answer was lost is never used
   * and expires.
   *
   * @throws IntendantError, NoAnswer
   */
  async openRun(run: NewRun): Promise<Run & { readonly opened: OpenedRun }> {
    const opened = await this.#ask('/v1/runs', run, has<OpenedRun>('runId', 'token', 'expiresAt'));
    return Object.assign(this.run(opened), { opened });
  }

  /** A run that somebody else has opened, by its token. */
  run({ runId, token }: Pick<OpenedRun, 'runId' | 'token'>): Run {
    return new Run(this.url, runId, token, () => this.#ask(`/v1/runs/${runId}/close`, {}, isNothing));
  }

  async #ask<T>(path: string, body: object, isAnswer: (body: unknown) => body is T): Promise<T> {
    const credential = this.#serviceKey;
    if (credential === undefined) throw new Error('Runs are opened and closed with a service key; none was given.');
    const question = { method: 'POST', path, credential, body, timeoutMs: answerMs, isAnswer } as const;
    return (await new Patience(patienceMs).insist(this.url, () => question)).body;
  }
}

function isNothing(body: unknown): body is undefined {
  return body === undefined;
}
