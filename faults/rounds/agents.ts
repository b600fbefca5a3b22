import { setTimeout as pause } from 'node:timers/promises';
import { argsHash } from '../history/args-hash.js';
import type { ClientAnswer } from '../history/clients.js';
import type { Channel } from './channel.js';
import type { About, ClientLog } from './client-log.js';
import type { RoundPlan } from './plan.js';
import type { PlannedIntent, PlannedRun, Step, Way } from './plan-load.js';
import { toolName } from './tools.js';

/** How long an agent waits for an answer beyond what it asked the service to wait, in ms. */
const patienceMs = 4_000;
const firstPauseMs = 100;
const longestPauseMs = 2_000;
/** How often a cancel or a question is asked that is not answered. */
const tries = 3;

interface Run {
  readonly runId: string;
  readonly token: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** Whoever publishes is not told that its token had expired when the message was stored, so it leaves this margin, in ms. */
const publishMarginMs = patienceMs + 1_000;

export interface AgentsOptions {
  readonly plan: RoundPlan;
  readonly channel: Channel;
  readonly log: ClientLog;
  readonly tenant: string;
  readonly serviceKey: string;
  /** Aborted when the round is frozen: whoever has no answer then will not get one. */
  readonly signal: AbortSignal;
}

/**
 * Agents that do what the contract asks of them: they send the same step again until somebody answers, and take every
 * answer about it for the last word on whether it was recorded.
 */
export class Agents {
  readonly #runs = new Map<number, Promise<Run>>();
  /** Submits without an answer so far. */
  #unanswered = 0;
  #done = 0;
  /** Codes that no agent of the plan should be told. */
  readonly surprises: string[] = [];

  constructor(private readonly options: AgentsOptions) {}

  /** Submits that have begun and that nobody has answered so far. */
  get unanswered(): number {
    return this.#unanswered;
  }

  /** Intents about which something is still to be done, or to be answered. */
  get busy(): number {
    return this.options.plan.intents.length - this.#done;
  }

  /** Opens the runs that are there from the beginning. */
  async prepare(): Promise<void> {
    const { runs } = this.options.plan;
    await Promise.all(runs.flatMap((run, at) => (run.atMs === 0 ? [this.#run(at, run)] : [])));
  }

  /** Begins now; never rejects; resolves when every agent has done what is planned, or the round is frozen. */
  async live(): Promise<void> {
    const { plan } = this.options;
    const start = performance.now();
    await Promise.all([
      ...plan.runs.map((run, at) => this.#at(start, run.atMs, () => this.#run(at, run).catch(() => undefined))),
      ...plan.intents.map((intent) => this.#at(start, intent.atMs, () => this.#intent(intent))),
    ]);
  }

  async #at(start: number, atMs: number, act: () => Promise<unknown>): Promise<void> {
    if (await this.#sleep(start + atMs - performance.now())) await act();
  }

  async #intent(intent: PlannedIntent): Promise<void> {
    const known = { intentId: null as string | null };
    const submits = Array.from({ length: intent.atOnce }, (_, n) =>
      this.#submit(intent, n === 0 ? intent.via : 'http', known),
    );
    await Promise.all([...submits, ...intent.steps.map((step) => this.#step(intent, step, known))]);
    this.#done += 1;
  }

  async #step(intent: PlannedIntent, step: Step, known: { intentId: string | null }): Promise<void> {
    if (!(await this.#sleep(step.afterMs))) return;
    switch (step.kind) {
      case 'repeat':
        return this.#submit(intent, step.via, known);
      case 'conflict':
        return this.#submit({ ...intent, amount: intent.amount + 1 }, step.via, { intentId: null });
      case 'cancel':
      case 'get':
        return this.#ask(intent, step.kind, known);
    }
  }

  async #submit(intent: PlannedIntent, via: Way, known: { intentId: string | null }): Promise<void> {
    this.#unanswered += 1;
    try {
      const run = await this.#runOf(intent);
      if (!run) return;
      for (let wait = firstPauseMs; !this.options.signal.aborted; wait = Math.min(wait * 2, longestPauseMs)) {
        const published = via === 'nats_publish' && mayPublish(run);
        const answer = await this.#send(intent, via === 'nats_publish' && !published ? 'http' : via, run);
        if (answer && this.#isLastWord(answer, intent, published)) {
          known.intentId ??= answer.intentId;
          return;
        }
        await this.#sleep(wait);
      }
    } finally {
      if (!this.options.signal.aborted) this.#unanswered -= 1;
    }
  }

  #send(intent: PlannedIntent, via: Way, run: Run): Promise<ClientAnswer | null> {
    const { channel, log, tenant } = this.options;
    const { ref, amount, stepId, waitS } = intent;
    const args = { ref, amount };
    const message = { tool: toolName(intent.tool), args, ...(stepId !== null && { stepId }) };
    const about = { ...this.#about(intent, run), operation: 'submit', via, argsHash: argsHash(args) } as const;
    return log.ask(about, patienceMs + waitS * 1_000, (signal) => {
      switch (via) {
        case 'http':
          return channel.ask('POST', '/v1/intents', run.token, { body: message, signal, waitS });
        case 'nats_request':
          return channel.request(message, run.token, { signal, waitS });
        case 'nats_publish':
          return channel.publish(message, run.token, tenant, { signal });
      }
    });
  }

  async #ask(intent: PlannedIntent, kind: 'cancel' | 'get', known: { intentId: string | null }): Promise<void> {
    const run = await this.#runOf(intent);
    // Nobody can ask about what it has no name for, and it is told when its submit is answered.
    for (let waited = 0; known.intentId === null && waited < patienceMs; waited += firstPauseMs) {
      if (!(await this.#sleep(firstPauseMs))) return;
    }
    const { intentId } = known;
    if (intentId === null || !run) return;
    const { channel, log } = this.options;
    const [method, path] =
      kind === 'cancel' ? ['POST', `/v1/intents/${intentId}/cancel`] : ['GET', `/v1/intents/${intentId}`];
    const about = { ...this.#about(intent, run), operation: kind, via: 'http', argsHash: null } as const;
    for (let n = 0; n < tries && !this.options.signal.aborted; n += 1) {
      const answer = await log.ask(about, patienceMs, (signal) =>
        channel.ask(method, path, run.token, { signal, ...(kind === 'cancel' && { body: {} }) }),
      );
      if (answer && answer.code !== 'unavailable' && answer.code !== 'internal') return;
      await this.#sleep(firstPauseMs);
    }
  }

  #about({ ref, tool, stepId }: PlannedIntent, { runId }: Run): Pick<About, 'ref' | 'tool' | 'runId' | 'stepId'> {
    return { ref, tool: toolName(tool), runId, stepId };
  }

  /** Recorded, refused for good, or stored for admission; anything else is asked again. */
  #isLastWord({ code, intentId }: ClientAnswer, { run, ref }: PlannedIntent, published: boolean): boolean {
    if (intentId !== null || code === 'idempotency_conflict') return true;
    if (code === 'unavailable' || code === 'internal') return false;
    if (code === null) return published;
    const ended = code === 'unauthenticated' || code === 'run_closed';
    if (!(ended && (this.options.plan.runs[run]?.ttlS ?? 0) < 60)) this.surprises.push(`${ref} was told ${code}`);
    return true;
  }

  /** Null when the round is frozen before its run could be opened. */
  async #runOf(intent: PlannedIntent): Promise<Run | null> {
    const planned = this.options.plan.runs[intent.run];
    return planned ? this.#run(intent.run, planned).catch(() => null) : null;
  }

  #run(at: number, planned: PlannedRun): Promise<Run> {
    const known = this.#runs.get(at);
    if (known !== undefined) return known;
    const opening = this.#open(planned);
    // Whoever needs it is told that it failed.
    opening.catch(() => undefined);
    this.#runs.set(at, opening);
    return opening;
  }

  async #open({ ttlS }: PlannedRun): Promise<Run> {
    const { channel, serviceKey, signal } = this.options;
    const budgets = { calls: 1_000, mutating: 1_000, destructive: 100, wallClock: `${ttlS}s` };
    const body = { user: 'ada', permissions: ['*'], profile: 'interactive', ttl: `${ttlS}s`, budgets };
    while (!signal.aborted) {
      const timeout = AbortSignal.timeout(patienceMs);
      const opened = await channel
        .call<Run>('POST', '/v1/runs', serviceKey, { body, signal: timeout })
        .catch(() => null);
      if (opened?.status === 201) return opened.body;
      await this.#sleep(firstPauseMs);
    }
    throw new Error('the round was frozen before its run was open');
  }

  /** False when the round was frozen meanwhile. */
  async #sleep(ms: number): Promise<boolean> {
    const { signal } = this.options;
    if (ms > 0) await pause(ms, undefined, { signal }).catch(() => undefined);
    return !signal.aborted;
  }
}

function mayPublish({ expiresAt }: Run): boolean {
  return Date.now() + publishMarginMs < Date.parse(expiresAt);
}
