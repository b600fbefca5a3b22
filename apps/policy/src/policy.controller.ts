import {
  durables,
  type HintMessage,
  type MessageHeaders,
  OnHint,
  OnRequest,
  OnWork,
  type RpcRequest,
  type WorkMessage,
} from '@intendant/bus';
import {
  type ErrorObject,
  type Grant,
  type IntentResult,
  intentIdPattern,
  type Pause,
  Refusal,
  readIds,
  resultOf,
  type Session,
  subjects,
} from '@intendant/contracts';
import { authorizeOperator, bearer, type KeyRing, type OperatorIdentity, RunTokens } from '@intendant/credentials';
import { faultPoint } from '@intendant/runtime';
import { Contended, Store, StoreUnavailable } from '@intendant/store';
import { type CatalogueEntry, catalogue, searchCatalogue, type ToolRegistry } from '@intendant/tools';
import { Controller, Inject } from '@nestjs/common';
import { Admission } from './admission.js';
import { Deferred } from './deferred.js';
import { Granting } from './granting.js';
import { Pausing } from './pausing.js';
import { parseObject, readFields } from './read-fields.js';
import { readTraceparent } from './read-traceparent.js';
import { readWait } from './read-wait.js';
import { contended } from './refusals.js';

export const operatorKeys = Symbol('operator keys');
export const policyTools = Symbol('tools of the policy service');

/** Refusals of what may be sent again under the same step. */
const mayBeRightLater: ReadonlySet<string> = new Set(['rate_limited', 'blocked_by_unknown']);

/** Everything the policy service answers to. */
@Controller()
export class PolicyController {
  private readonly deferred = new Deferred();

  constructor(
    private readonly admission: Admission,
    private readonly tokens: RunTokens,
    private readonly store: Store,
    @Inject(operatorKeys) private readonly operators: KeyRing<OperatorIdentity>,
    @Inject(policyTools) private readonly tools: ToolRegistry,
    private readonly pausing: Pausing,
    private readonly granting: Granting,
  ) {}

  /** A submit that waits for its answer: once it is answered, PostgreSQL has it. */
  @OnRequest(subjects.rpcSubmit)
  async submit({ payload, headers }: RpcRequest): Promise<IntentResult> {
    const wait = readWait(headers.get('Intendant-Wait'));
    const session = await this.session(headers.get('Authorization'));
    const { intent, replayed } = await available(() =>
      this.admission.admit(session, payload, {
        traceparent: readTraceparent(headers.get('traceparent')),
        answered: true,
        stepId: stepBeside(headers),
        after: afterWhich(headers),
      }),
    );
    faultPoint('policy.before_reply');
    if (wait === 0) return resultOf(intent, replayed);
    const later = await this.store.outcomes.wait(intent.proposal.intentId, wait, { known: intent }).catch(() => intent);
    return resultOf(later ?? intent, replayed);
  }

  /** A submit without an answer. What cannot be admitted is kept for an operator, since nobody waits for the refusal. */
  @OnWork(durables.admission.subject, { ...durables.admission, concurrency: 256 })
  async take(message: WorkMessage): Promise<void> {
    const { subject, payload, headers } = message;
    const stepId = stepBeside(headers);
    let session: Session | null = null;
    try {
      // A message may have waited for longer than its token lives; what counts is when it was sent.
      session = await this.session(headers.get('Authorization'), message.storedAt);
      if (subject !== subjects.intents(session.tenant)) {
        throw new Refusal(
          'unauthenticated',
          `The token is of tenant ${session.tenant}; publish to ${subjects.intents(session.tenant)}.`,
        );
      }
      const traceparent = readTraceparent(headers.get('traceparent'));
      await this.admission.admit(session, payload, { traceparent, answered: false, stepId });
      this.deferred.done(session.tenant, message.id);
    } catch (error) {
      // Anything else than a refusal about the message itself is delivered again.
      if (!(error instanceof Refusal) || error.error.code === 'unavailable') throw error;
      if (session && mayBeRightLater.has(error.error.code) && this.later(message, session, error.error)) return;
      const credential = headers.get('Authorization') ?? '';
      await this.store.deadMessages.keep({ subject, payload, credential, stepId }, session, error.error);
    }
    faultPoint('policy.before_ack');
  }

  /** What may be right later comes again by itself; false when too much of its tenant does already. */
  private later(message: WorkMessage, { tenant }: Session, { details }: ErrorObject): boolean {
    const { retryAfterMs } = details;
    const waitMs = typeof retryAfterMs === 'number' ? retryAfterMs : null;
    const delayMs = this.deferred.defer(tenant, message.id, waitMs, Math.random());
    if (delayMs !== null) message.later(delayMs);
    return delayMs !== null;
  }

  /** Admits a kept message again, on behalf of its verified sender, at an operator's request. */
  @OnRequest(subjects.rpcReplayMessage)
  async replay({ payload, headers }: RpcRequest): Promise<IntentResult> {
    const operator = authorizeOperator(this.operators, headers.get('Authorization'), 'operator');
    const { id } = readFields(payload, ['id']);
    if (id === undefined)
      throw new Refusal('invalid_message', 'The message must be like {"id":"<id of a dead message>"}.');
    const message = await this.store.deadMessages.find(id);
    if (!message || (operator.tenant !== '*' && message.tenant !== operator.tenant)) {
      throw new Refusal('not_found', `There is no dead message ${id}.`);
    }
    if (!message.session) {
      throw new Refusal(
        'conflict',
        `Nobody could say who sent message ${id}, so it can be read but not replayed: ${message.error.message}`,
      );
    }
    const { session, stepId } = message;
    const { intent, replayed } = await available(() =>
      this.admission.admit(session, message.payload, { traceparent: null, answered: false, stepId }),
    );
    await this.store.deadMessages.markReplayed(id, operator.name, intent.proposal.intentId);
    return resultOf(intent, replayed);
  }

  /** Keeps a scope from beginning anything, at an operator's request, once every process has heard of it. */
  @OnRequest(subjects.rpcPause)
  async pause({ payload, headers }: RpcRequest): Promise<{ pause: Pause; underWay: number }> {
    const operator = authorizeOperator(this.operators, headers.get('Authorization'), 'operator');
    return this.pausing.begin(operator, payload);
  }

  /** Agrees in advance to calls of one tool, at an approver's request. */
  @OnRequest(subjects.rpcGiveGrant)
  async giveGrant({ payload, headers }: RpcRequest): Promise<Grant> {
    const operator = authorizeOperator(this.operators, headers.get('Authorization'), 'approver');
    return this.granting.give(operator, parseObject(payload));
  }

  /** What the caller may call, as the model may see it. */
  @OnRequest(subjects.rpcTools)
  async list({ payload, headers }: RpcRequest): Promise<{ tools: CatalogueEntry[] }> {
    const session = await this.present(await this.session(headers.get('Authorization')));
    const wanted = readFields(payload, ['query', 'namespace']);
    return { tools: searchCatalogue(catalogue(this.tools, session), wanted) };
  }

  @OnHint(subjects.hintChanged)
  changed({ payload }: HintMessage): void {
    if (!this.store.outcomes.isIdle) this.store.outcomes.notify(readIds(payload));
  }

  /** The caller as its run is now: what a run may do can change while its token lives. */
  private async present(session: Session): Promise<Session> {
    const run = await available(() => this.store.runs.find(session.runId));
    if (run?.tenant !== session.tenant) {
      throw new Refusal('unauthenticated', 'The run of this token does not exist. The agent runtime has to open one.');
    }
    if (run.closed) throw new Refusal('run_closed', 'This run is closed. Nothing more can be done in it.');
    const { permissions, phase } = run;
    return { ...session, permissions, phase, sandbox: run.sandbox || session.sandbox === true };
  }

  private async session(authorization: string | undefined, at?: number): Promise<Session> {
    const token = bearer(authorization);
    if (token === null)
      throw new Refusal('unauthenticated', 'No run token: send the header Authorization: Bearer <run token>.');
    return this.tokens.verify(token, at);
  }
}

/** The step as the runtime says it beside a message, by whatever way it comes. */
function stepBeside(headers: MessageHeaders): string | null {
  return headers.get('Intendant-Step') ?? null;
}

/** After which intent of the same call a call without a step is made. @throws Refusal `invalid_message` */
function afterWhich(headers: MessageHeaders): string | null {
  const named = headers.get('Intendant-After');
  if (named === undefined) return null;
  if (named === 'none' || intentIdPattern.test(named)) return named;
  throw new Refusal('invalid_message', 'The header Intendant-After must be none, or the id of an intent.');
}

/** A database that is away is told as what it is: nothing is known to be recorded, and sending again is safe. */
async function available<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Contended) throw contended();
    if (!(error instanceof StoreUnavailable)) throw error;
    throw new Refusal(
      'unavailable',
      'The store did not answer. It is not known whether the intent was recorded; sending it again unchanged, with its step if it has one, is safe.',
    );
  }
}
