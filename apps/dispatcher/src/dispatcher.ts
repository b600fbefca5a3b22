import type { Ring } from '@intendant/contracts';
import type { In, Verdict } from '@intendant/intent';
import { faultPoint, type Logger, monotonic, newId } from '@intendant/runtime';
import { type Reservation, type Starter, StoreUnavailable } from '@intendant/store';
import type { ToolRegistry } from '@intendant/tools';
import { evidenceOf } from '@intendant/upstream';
import type { Attempts, OpenAttempt, WantedPreview } from './attempts.js';
import { Limits } from './limits.js';
import type { Notices } from './notices.js';
import { OnWire } from './on-wire.js';
import { Seen } from './seen.js';

/** Intents of one tool that wait here for a slot; more are left to be announced again. */
const maxWaiting = 5_000;
/** Tools whose absence is logged; whoever reaches the subject can name any. */
const maxNotServed = 1_000;

/** How often the log is asked whether an attempt that is still open was cancelled. */
export const cancelCheckMs = 1_000;

type Announced = Ring['intents'][number];

const announcementOf = ({ id, version }: Announced) => `${id}:${version}`;

/** Takes announced intents, as many at once as tools and upstreams allow, so that a slow upstream holds only its own. */
export class Dispatcher implements Starter {
  private readonly seen = new Seen(50_000);
  private readonly limits: Limits;
  private readonly running = new Set<Promise<void>>();
  private readonly notServed = new Set<string>();
  private readonly onWire = new OnWire();
  private stopped = false;

  constructor(
    private readonly attempts: Attempts,
    private readonly tools: ToolRegistry,
    private readonly notices: Notices,
    private readonly logger: Logger,
  ) {
    this.limits = new Limits(tools.list());
  }

  /**
   * Resolves when each of the intents that finds a free slot has its attempt recorded. The others wait here without
   * holding up the announcement: should this process die, they are announced again.
   *
   * @throws StoreUnavailable when an attempt could not be recorded
   */
  async take(ring: Ring): Promise<void> {
    faultPoint('dispatcher.after_ring');
    await Promise.all(ring.intents.map((intent) => this.takeOne(intent)));
  }

  /**
   * As `take`, for an announcement that comes later than the hint about the same intents: another replica has most
   * probably started them, and a look at them is cheaper than an attempt in vain.
   *
   * @throws StoreUnavailable
   */
  async takeLeft(ring: Ring): Promise<void> {
    const unseen = ring.intents.filter((intent) => !this.seen.has(announcementOf(intent)));
    if (unseen.length === 0) return;
    const waiting = await this.attempts.stillWaiting(unseen.map(({ id }) => id));
    await this.take({ intents: unseen.filter(({ id }) => waiting.has(id)) });
  }

  private async takeOne(announced: Announced): Promise<void> {
    const announcement = announcementOf(announced);
    if (!this.serves(announced) || !this.seen.first(announcement)) return;
    if (this.limits.waiting(announced) >= maxWaiting) return this.seen.forget(announcement);
    const release = this.limits.tryTake(announced);
    if (release) return this.start(announced, announcement, release);
    this.startInTurn(announced, announcement).catch((error: unknown) =>
      this.logger.warn({ err: error, intentId: announced.id }, 'attempt not started; it will be announced again'),
    );
  }

  private async startInTurn(announced: Announced, announcement: string): Promise<void> {
    const release = await this.limits.take(announced);
    if (release && !this.stopped) return this.start(announced, announcement, release);
    release?.();
    this.seen.forget(announcement);
  }

  private async start(announced: Announced, announcement: string, release: () => void): Promise<void> {
    try {
      // Rejected (not due yet, say): the same announcement may be right another time.
      if (!(await this.track(this.begin(announced, announcement, release)))) this.seen.forget(announcement);
    } catch (error) {
      release();
      this.seen.forget(announcement);
      if (error instanceof StoreUnavailable) throw error;
      // An intent that cannot be read would otherwise bring its announcement back for ever.
      this.logger.error({ err: error, intentId: announced.id }, 'attempt cannot be started');
    }
  }

  /** A slot for an intent that is being recorded in this very process, if there is one: it need not be announced. */
  reserve({ proposal }: In<'authorized'>): Reservation | null {
    if (!this.serves(proposal) || this.attempts.isPausedHere(proposal)) return null;
    const release = this.limits.tryTake(proposal);
    if (release === null) return null;
    const asked = monotonic();
    let decided = () => {};
    // The attempt is as good as started: whoever stops has to wait until it is decided.
    void this.track(new Promise<void>((resolve) => (decided = resolve)));
    return {
      attemptId: newId(),
      started: (intent) => {
        this.send(this.attempts.started(intent, asked), release);
        decided();
      },
      release: () => {
        release();
        decided();
      },
    };
  }

  /** True when there is something to send, or to ask. */
  private async begin(announced: Announced, announcement: string, release: () => void): Promise<boolean> {
    const started = await this.attempts.start(announced);
    if (started === null) release();
    else if ('show' in started) this.ask(started, announced, announcement, release);
    else this.send(started, release);
    return started !== null;
  }

  /** Holds a place at the upstream, and no announcement. What is not shown is announced again. */
  private ask(wanted: WantedPreview, { id }: Announced, announcement: string, release: () => void): void {
    const asking = wanted
      .show()
      .catch((error: unknown) => this.logger.warn({ err: error, intentId: id }, 'preview not recorded; asked again'))
      .finally(() => {
        release();
        this.seen.forget(announcement);
      });
    void this.track(asking);
  }

  private send(open: OpenAttempt, release: () => void): void {
    const { intentId } = open.intent.proposal;
    const unwatch = this.notices.watch(open);
    const signal = this.onWire.begin(intentId);
    const wire = this.attempts
      .finish(open, signal)
      .then((verdict) => this.heed(open, verdict))
      .catch((error: unknown) => this.logger.error({ err: error, intentId }, 'attempt left open; its lease will end'))
      .finally(() => {
        this.onWire.end(intentId, signal);
        unwatch();
        release();
      });
    void this.track(wire);
  }

  /**
   * While the circuit breaker is open the others of that upstream wait here, instead of starting attempts that are not
   * sent: each would cost two transactions and three events.
   */
  private heed({ intent }: OpenAttempt, verdict: Verdict): void {
    if (verdict.kind === 'not_executed' && verdict.cause === 'circuit_open') {
      this.limits.rest(intent.proposal, verdict.retryAfterMs ?? 0);
    } else if (evidenceOf(verdict) === 'answered') {
      this.limits.resume(intent.proposal);
    }
  }

  /**
   * Aborts what this process is sending of intents that somebody cancelled; what really happened is told by the
   * verdicts. Whoever reaches the subject of the hint can name any intent, so the log is asked about those `hinted`;
   * without a hint, since it may be lost, about all that take long.
   */
  async abortCancelled(hinted?: readonly string[]): Promise<void> {
    const ids = hinted ? this.onWire.among(hinted) : this.onWire.longerThan(cancelCheckMs);
    if (ids.length > 0) this.onWire.abort(await this.attempts.cancelRequested(ids));
  }

  /** What `stop` waits for: starts, too, since each leads to a request. */
  private async track<T>(work: Promise<T>): Promise<T> {
    const done = work.then(
      () => {},
      () => {},
    );
    this.running.add(done);
    try {
      return await work;
    } finally {
      this.running.delete(done);
    }
  }

  /** An intent of a tool or version that is not loaded here is left to a dispatcher that has it. */
  private serves({ tool: name, toolVersion }: Pick<Announced, 'tool' | 'toolVersion'>): boolean {
    if (this.tools.get(name)?.version === toolVersion) return true;
    const which = `${name} version ${toolVersion}`;
    if (!this.notServed.has(which) && this.notServed.size < maxNotServed) {
      this.notServed.add(which);
      this.logger.error({ tool: name, toolVersion }, `${which} is not loaded; its intents wait`);
    }
    return false;
  }

  /** Takes nothing new and waits for what is on the wire. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.limits.close();
    while (this.running.size > 0) await Promise.all(this.running);
  }
}
