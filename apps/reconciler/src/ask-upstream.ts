import type { LookupAnswer, Proposal } from '@intendant/intent';
import { faultPoint, type Logger } from '@intendant/runtime';
import type { Due, Store } from '@intendant/store';
import type { ToolRegistry } from '@intendant/tools';
import type { UpstreamAdapter } from '@intendant/upstream';
import { type Sweeper, type Swept, sweepAll } from './sweeper.js';

/** Lookups at once. No more are claimed, so that none waits while its claim runs out. */
const concurrency = 32;
/** How long other sweepers leave an intent alone while it is being asked about; longer than any lookup takes. */
const claimMs = 30_000;

/**
 * Settles intents whose outcome is open by asking the upstream's `exists()`. For `unknown` the answer decides between
 * committed, another attempt and a person; for `accepted` it waits for the end of what the upstream took on.
 */
export class AskUpstream implements Sweeper {
  readonly name: string;

  constructor(
    private readonly state: 'unknown' | 'accepted',
    private readonly store: Store,
    private readonly tools: ToolRegistry,
    private readonly upstream: UpstreamAdapter,
    private readonly logger: Logger,
  ) {
    this.name = state === 'unknown' ? 'settle-unknown' : 'poll-accepted';
  }

  async runOnce(limit: number): Promise<Swept> {
    const due = await this.store.sweeps.claimDue(this.state, Math.min(limit, concurrency), claimMs);
    faultPoint('reconciler.after_claim');
    return sweepAll(
      due,
      concurrency,
      (item) => this.settle(item),
      ({ intentId }, error) => this.logger.error({ err: error, intentId }, `${this.name} failed`),
    );
  }

  private async settle({ intentId, claimedAt }: Due): Promise<boolean> {
    const intent = await this.store.intents.load(intentId);
    if (intent?.state !== this.state) return false;
    const answer = await this.ask(intent.proposal);
    faultPoint('reconciler.after_lookup');
    // The claim was before the question, so the question cannot have been asked earlier than this says.
    const command = { type: 'record_lookup', answer, askedAt: claimedAt } as const;
    const result = await this.store.door.execute({ intentId, command });
    faultPoint('reconciler.after_decision');
    if (result.kind === 'accepted') {
      this.logger.info({ intentId, answer: answer.kind, state: result.intent.state }, 'asked the upstream');
    }
    return result.kind === 'accepted' && result.intent.state !== this.state;
  }

  private async ask(proposal: Proposal): Promise<LookupAnswer> {
    const { tool: name, contractDigest, args, injected, key, intentId, tenant, runId, sandbox, terms } = proposal;
    const tool = this.tools.get(name);
    if (!tool) return cannotTell(`this reconciler has no tool ${name}`);
    if (terms.lookup === 'none') return cannotTell('the tool has no lookup');
    const answer = await this.upstream.lookup({
      tool,
      args: { ...args, ...injected },
      key,
      intentId,
      tenant,
      runId,
      sandbox,
    });
    // The lookup of another contract may search elsewhere: what it finds is there, what it does not find proves nothing.
    const same = tool.contractDigest === contractDigest;
    return same || answer.kind !== 'absent' ? answer : cannotTell(`this reconciler has ${name} with another contract`);
  }
}

function cannotTell(detail: string): LookupAnswer {
  return { kind: 'cannot_tell', detail };
}
