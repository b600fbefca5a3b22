import type { Command, Intent, LookupAnswer } from '@intendant/intent';
import { faultPoint, type Logger, monotonic } from '@intendant/runtime';
import type { Due, Store } from '@intendant/store';
import { digest } from '@intendant/tools';
import type { Questions } from './questions.js';
import { type Sweeper, type Swept, within } from './sweeper.js';

/** Intents that are being asked about at once. No more are claimed, so that few wait while their claim runs out. */
const concurrency = 32;
/**
 * How long other sweepers leave an intent alone while it is being asked about. A question that takes longer may be asked
 * once more by another process, which costs a question and nothing else.
 */
const claimMs = 30_000;

/** States in which the upstream is asked; each has a sweeper of its own, so that none waits for another. */
const names = { unknown: 'settle-unknown', accepted: 'poll-accepted', committed: 'review-committed' } as const;

/**
 * Settles intents by asking the upstream. For `unknown` the answer decides between committed, another attempt and a
 * person; for `accepted` it waits for the end of what the upstream took on; a commit after an absence is looked at once
 * more, in case the earlier attempt took effect all the same.
 */
export class AskUpstream implements Sweeper {
  readonly name: string;
  /** By intent id; also of earlier passes, which did not wait for them to the end. */
  private readonly open = new Map<string, Promise<void>>();

  constructor(
    private readonly state: keyof typeof names,
    private readonly store: Store,
    private readonly questions: Questions,
    private readonly logger: Logger,
  ) {
    this.name = names[state];
  }

  /** Without `patienceMs` it waits for every answer, and for the turn of every question. */
  async runOnce(limit: number, patienceMs?: number): Promise<Swept> {
    const room = Math.min(limit, concurrency - this.open.size);
    if (room <= 0) return { found: 0, changed: 0, failed: 0 };
    const patient = patienceMs === undefined;
    // Whose upstream is busy anyway is left where everybody can see it.
    const crowded = patient ? [] : this.questions.crowded();
    const asked = monotonic();
    const due = await this.store.sweeps.claimDue(this.state, room, claimMs, crowded);
    if (due.length > 0) faultPoint('reconciler.after_claim');
    const swept = { found: due.length, changed: 0, failed: 0 };
    const work = due
      .filter(({ intentId }) => !this.open.has(intentId))
      .map((item) => this.begin(item, asked, swept, patient));
    await within(Promise.all(work), patienceMs);
    return { ...swept };
  }

  async finish(): Promise<void> {
    while (this.open.size > 0) await Promise.all(this.open.values());
  }

  /** Never rejects. */
  private begin(item: Due, asked: number, swept: { changed: number; failed: number }, patient: boolean): Promise<void> {
    const { intentId, tool } = item;
    const work = this.questions
      .inTurn(tool, () => this.settle(item, asked), patient)
      .then(async (turn) => {
        // It was not asked about, so nobody has to wait until the claim is over.
        if (turn === null) await this.store.sweeps.giveBack(this.state, intentId);
        else if (turn.said) swept.changed += 1;
      })
      .catch((error: unknown) => {
        swept.failed += 1;
        this.logger.error({ err: error, intentId }, `${this.name} failed`);
      })
      .finally(() => this.open.delete(intentId));
    this.open.set(intentId, work);
    return work;
  }

  private async settle({ intentId, claimedAt }: Due, asked: number): Promise<boolean> {
    const intent = await this.store.intents.load(intentId);
    if (intent?.state !== this.state) return false;
    const command = await this.ask(intent, claimedAt, asked);
    faultPoint('reconciler.after_lookup');
    const result = await this.store.door.execute({ intentId, command });
    faultPoint('reconciler.after_decision');
    if (result.kind === 'accepted') {
      this.logger.info({ intentId, answer: command.answer.kind, state: result.intent.state }, 'asked the upstream');
    }
    return result.kind === 'accepted' && result.intent.state !== this.state;
  }

  /**
   * The claim was before the question, so the question cannot have been asked earlier than `claimedAt` says. The claim
   * itself was sent at `asked`, on the own monotonic clock, so the answer cannot have come later than that allows.
   */
  private async ask(intent: Intent, claimedAt: number, asked: number): Promise<Extract<Command, { answer: unknown }>> {
    if (intent.state === 'accepted' && intent.proposal.terms.poll) {
      const answer = await this.questions.poll(intent.proposal, intent.data);
      return { type: 'record_poll', answer, askedAt: claimedAt };
    }
    const answer = await this.questions.lookup(intent.proposal);
    const answeredAt = Math.ceil(claimedAt + 1 + monotonic() - asked);
    if (intent.state === 'committed') return { type: 'record_review', answer };
    return { type: 'record_lookup', answer: await this.ownReceipt(intent, answer), askedAt: claimedAt, answeredAt };
  }

  /** A receipt that was given for another intent, too, proves neither: the lookup does not look at what it was asked. */
  private async ownReceipt({ proposal }: Intent, answer: LookupAnswer): Promise<LookupAnswer> {
    if (answer.kind !== 'present') return answer;
    const { tool, intentId } = proposal;
    const owner = await this.store.receipts.claim(proposal, answer.receipt ?? digest(answer.data));
    if (owner === intentId) return answer;
    this.logger.error({ intentId, tool, owner }, 'the lookup gave the same receipt for two intents: it proves nothing');
    return { kind: 'cannot_tell', detail: 'present, but with the receipt of another intent, which proves nothing' };
  }
}
