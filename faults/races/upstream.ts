import type { Json, LookupAnswer, PollAnswer, Verdict } from '@intendant/intent';
import type { CallOptions, LookupRequest, PollRequest, UpstreamAdapter, UpstreamRequest } from '@intendant/upstream';
import { argsHash } from '../history/args-hash.js';
import type { LedgerEntry } from '../history/ledger.js';
import type { Gates, Life } from './gates.js';
import { callMs } from './tools.js';
import type { VirtualTime } from './virtual-time.js';

/** What becomes of one request: whether and when it takes effect, and what is heard of it. */
export const conducts = [
  'answers',
  'effect_then_silence',
  'silence_without_effect',
  /** Silence at once; the effect comes within the declared processing time. */
  'silence_then_effect',
  'refuses',
  'not_now',
  /** As with an HTTP 202. */
  'accepts',
] as const;
export type Conduct = (typeof conducts)[number];

/** By the `ref` of the arguments: what becomes of the first requests, and of the first lookups. Then all is well. */
export interface Script {
  readonly calls: readonly Conduct[];
  readonly lookups: readonly ('truth' | 'error')[];
}

const world: Life = { name: 'upstream', alive: true };
type Unstamped<T> = T extends unknown ? Omit<T, 'seq' | 'at'> : never;

/** An upstream that keeps what its tools declare and answers in no order. It knows what really happened. */
export class Upstream {
  readonly ledger: LedgerEntry[] = [];
  private readonly called = new Map<string, number>();
  private readonly asked = new Map<string, number>();
  /** Effects by key. */
  private readonly receipts = new Map<string, Json[]>();

  constructor(
    private readonly scripts: ReadonlyMap<string, Script>,
    private readonly gates: Gates,
    private readonly time: VirtualTime,
    /** How long it works on a request at most, in ms. */
    private readonly processingMs: number,
  ) {}

  /** The way of one life of a replica to it. */
  adapter(who: Life): UpstreamAdapter {
    return {
      call: (request, options) => this.call(request, options, who),
      lookup: (request) => this.lookup(request, who),
      poll: (request) => this.poll(request, who),
      preview: async () => ({ kind: 'failed', cause: 'no_preview', detail: 'no tool of the races has one' }),
      close: async () => {},
    };
  }

  private async call(request: UpstreamRequest, options: CallOptions, who: Life): Promise<Verdict> {
    const { attemptId } = request;
    await this.gates.pass(who, `connect for ${request.intentId}`);
    if (options.signal?.aborted) return unsent('aborted_unsent');
    if (!options.mayStart()) return unsent('lease_over');
    this.note(request, { kind: 'request', method: 'CALL', attemptId });
    options.onSend?.();
    const sentAt = this.time.now;
    const conduct = this.next(request, 'calls', this.called) ?? 'answers';
    const receipt = this.execute(request, conduct, sentAt);
    const answered = this.answer(request, conduct, receipt, who);
    const aborted = new Promise<Verdict>((resolve) => {
      options.signal?.addEventListener('abort', () => resolve(unknown('aborted')), { once: true });
    });
    const verdict = await Promise.race([answered, aborted]);
    const late = this.time.now > sentAt + callMs;
    if (!late && !options.signal?.aborted) return verdict;
    void answered.then(async (really) => {
      await this.gates.pass(who, `late answer for ${request.intentId}`);
      if (really.kind === 'executed') options.onLate?.(really);
    });
    return unknown(late ? 'call_timeout' : 'aborted');
  }

  /** The receipt once it has taken effect; null when it never does. */
  private async execute(request: UpstreamRequest, conduct: Conduct, sentAt: number): Promise<Json | null> {
    if (conduct === 'silence_without_effect' || conduct === 'refuses' || conduct === 'not_now') return null;
    const until = sentAt + this.processingMs;
    // The worst that it may do is to take all the time it has.
    const from = conduct === 'silence_then_effect' ? until : sentAt;
    await this.gates.pass(world, `execute ${request.intentId}`, { from, until });
    const { key, tool, attemptId } = request;
    if (tool.effect === 'read') return { read: key };
    const known = this.receipts.get(key) ?? [];
    const { guarantee } = tool.terms;
    if (known[0] && (guarantee === 'idempotency_key' || guarantee === 'conditional_create')) return known[0];
    const receipt = { id: `effect-${this.receipts.size + 1}-${known.length + 1}` };
    this.receipts.set(key, [...known, receipt]);
    this.note(request, { kind: 'effect', attemptId, externalId: receipt.id });
    return receipt;
  }

  private async answer(
    request: UpstreamRequest,
    conduct: Conduct,
    receipt: Promise<Json | null>,
    who: Life,
  ): Promise<Verdict> {
    const data = conduct === 'answers' || conduct === 'effect_then_silence' ? await receipt : null;
    await this.gates.pass(who, `answer for ${request.intentId}`);
    switch (conduct) {
      case 'answers':
        return { kind: 'executed', data };
      case 'effect_then_silence':
      case 'silence_without_effect':
      case 'silence_then_effect':
        return unknown('connection_reset');
      case 'refuses':
        return { kind: 'not_executed', cause: 'refused', transient: false, retryAfterMs: null, detail: 'refused' };
      case 'not_now':
        return { kind: 'not_executed', cause: 'busy', transient: true, retryAfterMs: null, detail: 'busy' };
      case 'accepts':
        return { kind: 'accepted', data: { operation: request.key } };
    }
  }

  private async lookup(request: LookupRequest, who: Life): Promise<LookupAnswer> {
    await this.gates.pass(who, `look up ${request.intentId}`);
    const [receipt] = this.receipts.get(request.key) ?? [];
    const fails = this.next(request, 'lookups', this.asked) === 'error';
    const there: LookupAnswer = receipt === undefined ? { kind: 'absent' } : { kind: 'present', data: receipt };
    const answer: LookupAnswer = fails ? { kind: 'cannot_tell', detail: 'error' } : there;
    this.note(request, { kind: 'lookup', answer: fails ? 'error' : there.kind });
    await this.gates.pass(who, `lookup says ${answer.kind} of ${request.intentId}`);
    return answer;
  }

  private async poll(request: PollRequest, who: Life): Promise<PollAnswer> {
    await this.gates.pass(who, `poll ${request.intentId}`);
    const [receipt] = this.receipts.get(request.key) ?? [];
    const answer: PollAnswer =
      receipt === undefined ? { kind: 'pending', detail: 'running' } : { kind: 'executed', data: receipt };
    this.note(request, { kind: 'poll', answer: answer.kind });
    await this.gates.pass(who, `poll says ${answer.kind} of ${request.intentId}`);
    return answer;
  }

  private next<K extends keyof Script>(request: LookupRequest, of: K, used: Map<string, number>) {
    const ref = String(request.args['ref']);
    const count = used.get(ref) ?? 0;
    used.set(ref, count + 1);
    return this.scripts.get(ref)?.[of][count] as Script[K][number] | undefined;
  }

  private note(
    { tool, key, args }: LookupRequest,
    line: Unstamped<LedgerEntry> extends infer L
      ? L extends unknown
        ? Omit<L, 'path' | 'key' | 'argsHash'>
        : never
      : never,
  ): void {
    const stamped = {
      seq: this.ledger.length + 1,
      at: this.time.now,
      path: tool.name,
      key,
      argsHash: argsHash(args),
      ...line,
    };
    this.ledger.push(stamped as LedgerEntry);
  }
}

function unsent(cause: string): Verdict {
  return { kind: 'not_executed', cause, transient: true, retryAfterMs: null, detail: cause, sent: false };
}

function unknown(cause: string): Verdict {
  return { kind: 'unknown', cause, detail: cause };
}
