import { setTimeout as delay } from 'node:timers/promises';
import type { IntentResult } from '@intendant/contracts';
import { call, NoAnswer } from './call.js';
import { describeReply, type Reply } from './reply.js';

export type Args = Readonly<Record<string, string | number>>;

/** A call as the model wants it; the step id is from its runtime and is the same whenever the step is done again. */
export interface ToolCall {
  readonly stepId: string;
  readonly tool: string;
  readonly args: Args;
}

const retryMs = 250;
/** The status of an answer that says nothing about the intent. */
const unavailable = 503;

/** An agent that does not understand what it is told: whatever the answer, it may ask for the same step again. */
export class Agent {
  readonly #asked = new Map<string, number>();

  constructor(
    private readonly url: string,
    private readonly token: string,
    private readonly tell: (line: string) => Promise<void>,
  ) {}

  /** How often a step was sent, whether or not an answer came. */
  asked(stepId: string): number {
    return this.#asked.get(stepId) ?? 0;
  }

  /** Sends the call once. @throws NoAnswer */
  async submit(toolCall: ToolCall, waitSeconds = 0): Promise<Reply> {
    await this.#tellCall(toolCall);
    return this.#tellReply(await this.#send(toolCall, waitSeconds));
  }

  /**
   * Sends the call again and again, always as the same step, until something answers that knows about it.
   * @throws NoAnswer when that takes longer than `timeoutMs`
   */
  async insist(toolCall: ToolCall, waitSeconds: number, timeoutMs: number): Promise<Reply> {
    const deadline = performance.now() + timeoutMs;
    await this.#tellCall(toolCall);
    for (let last = ''; ; ) {
      const reply = await this.#send(toolCall, waitSeconds).catch(noAnswer);
      if ('status' in reply && reply.status !== unavailable) return this.#tellReply(reply);
      const problem = 'status' in reply ? 'the service is not ready' : reply.problem;
      if (problem !== last) await this.tell(`gets no answer and goes on trying: ${problem}`);
      last = problem;
      if (performance.now() > deadline) throw new NoAnswer(`${timeoutMs / 1_000} s without an answer: ${problem}`);
      await delay(retryMs);
    }
  }

  async #send({ stepId, tool, args }: ToolCall, waitSeconds: number): Promise<Reply> {
    this.#asked.set(stepId, this.asked(stepId) + 1);
    const { status, body } = await call<IntentResult>(`${this.url}/v1/intents`, {
      method: 'POST',
      credential: this.token,
      body: { tool, args, stepId },
      waitSeconds,
    });
    return { status, result: 'intentId' in body ? body : null, error: body.error };
  }

  #tellCall({ tool, args }: ToolCall): Promise<void> {
    return this.tell(`calls ${tool} ${JSON.stringify(args)}`);
  }

  async #tellReply(reply: Reply): Promise<Reply> {
    await this.tell(`is told ${describeReply(reply)}`);
    return reply;
  }
}

function noAnswer(error: unknown): { readonly problem: string } {
  if (error instanceof NoAnswer) return { problem: error.message };
  throw error;
}
