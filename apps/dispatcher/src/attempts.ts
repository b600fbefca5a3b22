import { setTimeout as wait } from 'node:timers/promises';
import { newRequest, renewed, type Seals, valuesOf, verify } from '@intendant/approvals';
import { keptBy, type Ring, type StateToken, type ToolDefinition } from '@intendant/contracts';
import {
  type ApprovalRequest,
  type Command,
  type In,
  type Intent,
  newestOf,
  type Preview,
  type Proposal,
  type Verdict,
  wantsPreview,
} from '@intendant/intent';
import { covers, pauseOver } from '@intendant/policy';
import { faultPoint, type Logger, monotonic, newId, wallClock } from '@intendant/runtime';
import { clockToleranceMs, type Result, type Store, StoreUnavailable } from '@intendant/store';
import type { ToolRegistry } from '@intendant/tools';
import type { PreviewAnswer, UpstreamAdapter } from '@intendant/upstream';

/** An attempt this process owns: recorded, not sent yet. */
export interface OpenAttempt {
  readonly intent: In<'dispatching'>;
  /** When its lease ends on the own monotonic clock; earlier than on the database clock, never later. */
  readonly leaseEnds: number;
}

/** A preview that is wanted before people can agree. Whoever asks for it waits for its upstream. */
export interface WantedPreview {
  show(): Promise<void>;
}

/** What approvals are checked with. */
export interface ApprovalChecks {
  readonly seals: Seals;
  /** Version of the policy files. */
  readonly policy: string;
}

/** The steps of one wire attempt: start it, send it, record what became of it. */
export class Attempts {
  constructor(
    private readonly store: Store,
    private readonly tools: ToolRegistry,
    private readonly upstream: UpstreamAdapter,
    private readonly logger: Logger,
    private readonly checks: ApprovalChecks,
  ) {}

  /** Those of a doorbell that nobody has started meanwhile. */
  stillWaiting(intentIds: readonly string[]): Promise<Set<string>> {
    return this.store.intents.stillAuthorized(intentIds);
  }

  /** Records the attempt before its first byte; null when there is nothing to send now, or somebody else was faster. */
  async start({
    id: intentId,
    tool,
  }: Pick<Ring['intents'][number], 'id' | 'tool'>): Promise<OpenAttempt | WantedPreview | null> {
    const known = (await this.mayBePaused(tool)) ? await this.store.intents.load(intentId) : null;
    if (known !== null && this.isPausedHere(known.proposal)) return null;
    const asked = monotonic();
    const attemptId = newId();
    const phases = this.tools.get(tool)?.phases ?? null;
    const command = { type: 'start_attempt', attemptId, phases } as const;
    const result = await this.store.door.execute({ intentId, command, ...(known && { known }) });
    const started = isUnverified(result) ? await this.startVerified(result.intent, command) : result;
    if ('show' in started) return started;
    const { intent } = started;
    if (intent?.state !== 'dispatching' || intent.attempt.attemptId !== attemptId) return null;
    return this.started(intent, asked);
  }

  /** The last look at what people have agreed to: the intent may not have changed since when it is recorded. */
  private async startVerified(
    known: Intent,
    command: Extract<Command, { type: 'start_attempt' }>,
  ): Promise<Result | WantedPreview> {
    const { proposal, approvals, version } = known;
    const tool = this.tools.get(proposal.tool);
    if (!tool) return { kind: 'unchanged', intent: known };
    if (approvals === null) {
      const verified = { version, matching: [], differs: [], renewed: await this.insteadOfGrant(known, tool) };
      return this.store.door.execute({
        ...{ intentId: proposal.intentId, known },
        command: { ...command, verified, grantOver: true },
      });
    }
    const { seals, policy } = this.checks;
    const verified = verify({ proposal, approvals, version }, { tool, policy, nonce: newId() }, seals);
    const newest = newestOf(approvals);
    if (wantsPreview(newest) && verified.matching.includes(newest.digest)) {
      return { show: () => this.showPreview(proposal, newest, tool) };
    }
    if (verified.differs.length > 0) {
      const { intentId } = proposal;
      this.logger.warn({ intentId, differs: verified.differs }, 'not sent: it is not what people have agreed to');
    }
    faultPoint('dispatcher.after_verify');
    return this.store.door.execute({ intentId: proposal.intentId, command: { ...command, verified }, known });
  }

  /** Asks the upstream what the call would change, and people whether they agree to that. */
  private async showPreview(proposal: Proposal, asked: ApprovalRequest, tool: ToolDefinition): Promise<void> {
    const { intentId, key, tenant, runId, sandbox } = proposal;
    const args = valuesOf(proposal);
    const answer = await this.upstream.preview({ tool, args, key, intentId, tenant, runId, sandbox });
    faultPoint('dispatcher.after_preview');
    const { seals, policy } = this.checks;
    const preview = previewOf(answer, tool);
    const request = renewed(asked, { proposal, tool, policy, nonce: newId(), preview }, seals);
    await this.store.door.execute({ intentId, command: { type: 'show_preview', of: asked.digest, request } });
  }

  /** What a person is asked once the grant is over that had answered it beforehand. */
  private async insteadOfGrant(
    { proposal, recordedAt, expiresAt }: Intent,
    tool: ToolDefinition,
  ): Promise<ApprovalRequest> {
    const { intentId, grant = '' } = proposal;
    const given = await this.store.grants.find(grant);
    this.logger.warn({ intentId, grant }, 'not sent: its grant is over');
    const message = `The grant ${grant}${given ? ` by ${given.givenBy}` : ''} is over.`;
    return newRequest(
      {
        ...{ proposal, tool, policy: this.checks.policy, demands: [{ rule: 'grant', message }] },
        // By no policy files: those that had the grant looked for may have been others.
        ...{ alike: null, nonce: newId(), judged: '' },
        expiresAt: Math.min(Math.max(recordedAt, wallClock()) + tool.approval.ttlMs, expiresAt),
      },
      this.checks.seals,
    );
  }

  /** By what was known a moment ago: whoever records an intent has asked just before. */
  isPausedHere({ tenant, tool }: Pick<Proposal, 'tenant' | 'tool'>): boolean {
    const definition = this.tools.get(tool);
    return definition !== undefined && pauseOver(this.store.pauses.lastKnown, tenant, definition) !== null;
  }

  /** Whether any tenant is kept from this tool now. A paused intent is left as it is, to be announced again. */
  private async mayBePaused(name: string): Promise<boolean> {
    const pauses = await this.store.pauses.current();
    const tool = this.tools.get(name);
    return tool !== undefined && pauses.some((pause) => covers(pause, tool));
  }

  /** An attempt that was recorded after `asked`, on the own monotonic clock. */
  started(intent: In<'dispatching'>, asked: number): OpenAttempt {
    return { intent, leaseEnds: asked + intent.proposal.terms.leaseMs - clockToleranceMs };
  }

  /** Those that somebody asked to cancel, by the log. */
  cancelRequested(intentIds: readonly string[]): Promise<string[]> {
    return this.store.intents.cancelRequested(intentIds);
  }

  /** Sends it, at most once, and records the verdict, which it returns. `signal` aborts what is under way. */
  async finish(open: OpenAttempt, signal: AbortSignal): Promise<Verdict> {
    faultPoint('dispatcher.after_start');
    const verdict = await this.send(open, signal);
    faultPoint('dispatcher.after_answer');
    await this.report(open.intent, verdict);
    faultPoint('dispatcher.after_verdict');
    return verdict;
  }

  private async send({ intent, leaseEnds }: OpenAttempt, signal: AbortSignal): Promise<Verdict> {
    const { proposal, attempt } = intent;
    const tool = this.tools.get(proposal.tool);
    if (!tool || tool.contractDigest !== proposal.contractDigest) return notLoaded(tool, intent);
    // Recording the attempt may have taken long, and so may whatever stopped this process.
    await this.store.pauses.current().catch(() => undefined);
    if (this.isPausedHere(proposal)) return pausedMeanwhile;
    const { key, intentId, tenant, runId, sandbox } = proposal;
    const { attemptId } = attempt;
    const args = valuesOf(proposal);
    const stateToken = agreedState(intent);
    return this.upstream.call(
      { tool, args, key, intentId, tenant, runId, attemptId, sandbox, ...(stateToken !== null && { stateToken }) },
      {
        signal,
        // Evidence of what was given up on; the decision is the log's.
        onLate: (late) => {
          this.report(intent, late).catch((error: unknown) =>
            this.logger.error({ err: error, intentId }, 'late success not recorded'),
          );
        },
        // A process that was stopped for a while must not send under a lease that others see as ended.
        mayStart: () => {
          faultPoint('dispatcher.before_send');
          return monotonic() + tool.limits.callMs < leaseEnds;
        },
        onSend: () => {
          // Stopped between the check and the first byte: nothing can take it back, so somebody has to know.
          if (monotonic() >= leaseEnds) this.logger.error({ intentId, attemptId }, 'sent after the lease had ended');
          faultPoint('dispatcher.after_send');
        },
      },
    );
  }

  /** The verdict is evidence nobody else has; it is offered until the database takes it. */
  private async report(intent: In<'dispatching'>, verdict: Verdict): Promise<void> {
    const { intentId } = intent.proposal;
    const command = {
      type: 'record_verdict',
      attemptId: intent.attempt.attemptId,
      verdict,
      jitter: Math.random(),
    } as const;
    const commandId = newId();
    let known: Intent | undefined = intent;
    for (let pause = 100; ; pause = Math.min(pause * 2, 5_000)) {
      try {
        await this.store.door.execute({ intentId, command, commandId, ...(known && { known }) });
        return;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        // It may have been recorded all the same; only a look at the log tells.
        known = undefined;
        this.logger.warn({ intentId, err: error }, 'verdict not recorded yet');
        await wait(pause);
      }
    }
  }
}

/** What the preview of the request that was agreed to has tied the call to; null: nothing. */
function agreedState({ attempt, approvals }: In<'dispatching'>): StateToken | null {
  const agreed = approvals?.requests.find(({ digest }) => digest === attempt.approval);
  return agreed?.preview?.kind === 'shown' ? agreed.preview.token : null;
}

function previewOf(answer: PreviewAnswer, { approval }: ToolDefinition): Preview {
  // What an upstream says of a request may repeat its arguments, and some of them nobody is shown.
  const said = answer.kind === 'failed' && approval.redact.length === 0 ? `: ${answer.detail}` : '';
  const needed = approval.preview?.token != null;
  if (answer.kind === 'failed') return { kind: 'failed', detail: `${answer.cause}${said}`, needed };
  const { before, after, token } = answer;
  return {
    kind: 'shown',
    before,
    after,
    token,
    kept: approval.preview && token !== null ? keptBy(approval.preview) : 'not_kept',
  };
}

function isUnverified(result: Result): result is Result & { readonly intent: Intent } {
  return result.kind === 'rejected' && result.reason === 'not_verified' && result.intent !== null;
}

const pausedMeanwhile: Verdict = {
  ...{ kind: 'not_executed', cause: 'paused', transient: true, sent: false },
  ...{ retryAfterMs: 1_000, detail: 'its tool was paused before anything was sent' },
};

function notLoaded(tool: ToolDefinition | undefined, { proposal }: In<'dispatching'>): Verdict {
  const detail = tool
    ? `this dispatcher has ${proposal.tool} with another contract`
    : `this dispatcher has no tool ${proposal.tool}`;
  return { kind: 'not_executed', cause: 'tool_not_loaded', transient: true, retryAfterMs: null, detail, sent: false };
}
