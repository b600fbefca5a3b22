import type { Ring } from '@intendant/contracts';
import type { In } from '@intendant/intent';
import { faultPoint, type Logger, monotonic, newId } from '@intendant/runtime';
import { type Reservation, type Starter, StoreUnavailable } from '@intendant/store';
import type { ToolRegistry } from '@intendant/tools';
import type { Attempts, OpenAttempt } from './attempts.js';
import { OnWire } from './on-wire.js';
import { Seen } from './seen.js';
import { Slots } from './slots.js';

/** Open attempts of this process over all tools. */
const maxOpen = 512;
/** Intents of one tool that wait here for a slot; more are left to be announced again. */
const maxWaiting = 5_000;
/** Tools whose absence is logged; whoever reaches the subject can name any. */
const maxNotServed = 1_000;

/** How often the log is asked whether an attempt that is still open was cancelled. */
export const cancelCheckMs = 1_000;

type Announced = Ring['intents'][number];

const announcementOf = ({ id, version }: Announced) => `${id}:${version}`;

/** Takes announced intents, as many at once as the tools allow, so that a slow upstream holds only its own. */
export class Dispatcher implements Starter {
  private readonly seen = new Seen(50_000);
  private readonly open = new Slots(maxOpen);
  private readonly perTool = new Map<string, Slots>();
  private readonly running = new Set<Promise<void>>();
  private readonly notServed = new Set<string>();
  private readonly onWire = new OnWire();

  constructor(
    private readonly attempts: Attempts,
    private readonly tools: ToolRegistry,
    private readonly logger: Logger,
  ) {}

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
    const slots = this.slotsOf(announced.tool);
    if (slots.waiting >= maxWaiting) return this.seen.forget(announcement);
    if (slots.isFree && this.open.isFree) return this.startInTurn(announced, announcement, slots);
    this.startInTurn(announced, announcement, slots).catch((error: unknown) =>
      this.logger.warn({ err: error, intentId: announced.id }, 'attempt not started; it will be announced again'),
    );
  }

  private async startInTurn({ id }: Announced, announcement: string, slots: Slots): Promise<void> {
    if (!(await slots.take())) return this.seen.forget(announcement);
    if (!(await this.open.take())) {
      slots.release();
      return this.seen.forget(announcement);
    }
    const release = () => this.release(slots);
    try {
      // Rejected (not due yet, say): the same announcement may be right another time.
      if (!(await this.track(this.begin(id, release)))) this.seen.forget(announcement);
    } catch (error) {
      release();
      this.seen.forget(announcement);
      if (error instanceof StoreUnavailable) throw error;
      // An intent that cannot be read would otherwise bring its announcement back for ever.
      this.logger.error({ err: error, intentId: id }, 'attempt cannot be started');
    }
  }

  /** A slot for an intent that is being recorded in this very process, if there is one: it need not be announced. */
  reserve({ proposal }: In<'authorized'>): Reservation | null {
    const { intentId, tool, toolVersion } = proposal;
    if (!this.serves({ tool, toolVersion })) return null;
    const slots = this.slotsOf(tool);
    if (!slots.isFree || !this.open.tryTake()) return null;
    slots.tryTake();
    const asked = monotonic();
    let decided = () => {};
    // The attempt is as good as started: whoever stops has to wait until it is decided.
    void this.track(new Promise<void>((resolve) => (decided = resolve)));
    const release = () => this.release(slots);
    return {
      attemptId: newId(),
      started: (intent) => {
        this.send(intentId, this.attempts.started(intent, asked), release);
        decided();
      },
      release: () => {
        release();
        decided();
      },
    };
  }

  /** True when there is something to send. */
  private async begin(id: string, release: () => void): Promise<boolean> {
    const attempt = await this.attempts.start(id);
    if (attempt === null) release();
    else this.send(id, attempt, release);
    return attempt !== null;
  }

  private send(id: string, attempt: OpenAttempt, release: () => void): void {
    const wire = this.attempts
      .finish(attempt, this.onWire.begin(id))
      .catch((error: unknown) =>
        this.logger.error({ err: error, intentId: id }, 'attempt left open; its lease will end'),
      )
      .finally(() => {
        this.onWire.end(id);
        release();
      });
    void this.track(wire);
  }

  /** Aborts what this process is sending for these intents; what really happened is told by the verdicts. */
  abort(intentIds: readonly string[]): void {
    this.onWire.abort(intentIds);
  }

  /** The same for what the log says, since the hint about a cancel may be lost. */
  async abortCancelled(): Promise<void> {
    const ids = this.onWire.longerThan(cancelCheckMs);
    if (ids.length > 0) this.abort(await this.attempts.cancelRequested(ids));
  }

  private release(slots: Slots): void {
    this.open.release();
    slots.release();
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

  private slotsOf(tool: string): Slots {
    const known = this.perTool.get(tool);
    if (known) return known;
    const slots = new Slots(this.tools.get(tool)?.limits.concurrency ?? 1);
    this.perTool.set(tool, slots);
    return slots;
  }

  /** Takes nothing new and waits for what is on the wire. */
  async stop(): Promise<void> {
    this.open.close();
    for (const slots of this.perTool.values()) slots.close();
    while (this.running.size > 0) await Promise.all(this.running);
  }
}
