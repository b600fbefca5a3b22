import { newRequest, type Seals } from '@intendant/approvals';
import type { Facts, Session, ToolDefinition } from '@intendant/contracts';
import {
  type ApprovalRequest,
  type In,
  isJudged,
  newestOf,
  nothingDone,
  type Rejudgement,
  takenBy,
} from '@intendant/intent';
import { type Call, ruleAgain } from '@intendant/policy';
import { type Logger, newId } from '@intendant/runtime';
import type { Run, Store } from '@intendant/store';
import type { ToolRegistry } from '@intendant/tools';
import type { WrittenRules } from './written-rules.js';

type Waiting = In<'awaiting_approval'>;

/** Intents that are looked at in one pass. */
const batchSize = 100;

/**
 * What people are asked about anew after the policy files have changed is asked by the demands of the old ones, since
 * dispatchers know no rules. Here it is judged by the present ones, once; nobody can agree before.
 */
export class JudgingAgain {
  private readonly toolFiles: readonly string[];
  private after: string | undefined;

  constructor(
    private readonly store: Store,
    private readonly tools: ToolRegistry,
    private readonly written: WrittenRules,
    private readonly seals: Seals,
    private readonly logger: Logger,
  ) {
    this.toolFiles = tools.list().map(({ fileDigest }) => fileDigest);
  }

  /** Judges what waits for it by the files of this service; returns how much there was more to look at. */
  async runOnce(): Promise<number> {
    const ids = await this.store.intents.unjudged(this.written.version, this.toolFiles, batchSize, this.after);
    this.after = ids.length < batchSize ? undefined : ids.at(-1);
    for (const id of ids) {
      await this.judge(id).catch((error: unknown) =>
        this.logger.error({ err: error, intentId: id }, 'a call that waits for people was not judged again'),
      );
    }
    return this.after === undefined ? 0 : ids.length;
  }

  private async judge(intentId: string): Promise<void> {
    const intent = await this.store.intents.load(intentId);
    if (intent?.state !== 'awaiting_approval') return;
    const { proposal, approvals } = intent;
    const newest = newestOf(approvals);
    const tool = this.tools.get(proposal.tool);
    const run = await this.store.runs.find(proposal.runId);
    // Another version asks it then, whose own service will judge it.
    if (tool?.fileDigest !== newest.toolFile || newest.policy !== this.written.version || isJudged(newest)) return;
    if (run === null) return;
    const call = this.callOf(intent, tool, run, await this.store.runs.factsBeside(intentId, run.id));
    const ruling = this.ruling(intent, newest, call);
    const { kind } = await this.store.door.execute({
      intentId,
      command: { type: 'judge_again', of: newest.digest, ruling },
      known: intent,
    });
    if (kind === 'accepted') this.logger.info({ intentId, allow: ruling.allow }, 'judged by the present policy files');
  }

  private ruling(intent: Waiting, newest: ApprovalRequest, call: Call): Rejudgement {
    const { version: policy } = this.written;
    const ruled = ruleAgain(call, newest.demands, policy);
    if (!ruled.allow) {
      const { code, message, details } = ruled.failure;
      const failure = { code, message: message.replace('Nothing was sent', nothingDone(intent)), details };
      return { ...ruled, failure };
    }
    const { demands, reasons } = ruled;
    const { expiresAt, alike, preview } = newest;
    const question = { proposal: intent.proposal, tool: call.tool, policy, demands, expiresAt, alike, nonce: newId() };
    const request = newRequest({ ...question, ...(preview && { preview }) }, this.seals);
    return { allow: 'approved', request, reasons };
  }

  /** As it was proposed: what the run has read since, and the phase it has entered, did not lead to it. */
  private callOf({ proposal }: Waiting, tool: ToolDefinition, run: Run, known: Facts): Call {
    const { args, sandbox, fingerprint, cost = 0, taintedBy = null, phase = null } = proposal;
    const { tenant, user, profile, permissions, openedBy, restrictions, expiresAt } = run;
    const session: Session = { ...{ tenant, user, profile, permissions, expiresAt, runId: run.id, phase }, sandbox };
    const facts = { ...known, run: known.run && { ...known.run, taintedBy } };
    const question = { session, tool, args, sandbox, cost, openedBy, restrictions, taintedBy, facts };
    return {
      ...{ session, tool, permitted: { allowed: true }, takes: takenBy(proposal), fingerprint, sandbox, taintedBy },
      ...{ gist: null, identifiers: [], rates: [] },
      written: this.written.judge(question),
    };
  }
}
