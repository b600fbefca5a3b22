import { Refusal, resultOf, type Session } from '@intendant/contracts';
import type { Store } from '@intendant/store';
import type { Admission } from '../../apps/policy/src/admission.js';
import { argsHash } from '../history/args-hash.js';
import type { ClientAnswer, ClientEntry } from '../history/clients.js';
import { gatedStore } from './gated-store.js';
import type { Gates } from './gates.js';
import type { PlannedIntent } from './plan.js';
import type { VirtualTime } from './virtual-time.js';

/** One intent as its agent sees it. */
export class Wish {
  readonly ref: string;
  /** Submits that are still to be made while the schedule runs. */
  left: number;
  intentId: string | null = null;
  /** What was asked for beside submits; each is asked for once. */
  readonly did = new Set<'cancel' | 'replay'>();
  private requests = 0;

  constructor(
    readonly planned: PlannedIntent,
    index: number,
  ) {
    this.ref = `ref-${index}`;
    this.left = planned.submits;
  }

  nextRequest(): string {
    this.requests += 1;
    return `${this.ref}#${this.requests}`;
  }
}

/** Agents and operators: they ask, and write down what they were told. */
export class Agents {
  readonly entries: ClientEntry[] = [];

  constructor(
    private readonly session: Session,
    private readonly time: VirtualTime,
  ) {}

  /** `other`: the same step with other arguments. Never rejects. */
  async submit(wish: Wish, admission: Admission, other = false): Promise<void> {
    const args = { ref: wish.ref, amount: other ? 2 : 1 };
    const message = { tool: `race.${wish.planned.kind}`, args, stepId: wish.ref };
    const told = this.ask(wish, 'submit', argsHash(args));
    try {
      const payload = new TextEncoder().encode(JSON.stringify(message));
      const { intent, replayed } = await admission.admit(this.session, payload, { traceparent: null, answered: true });
      const { intentId, status, outcome, error } = resultOf(intent, replayed);
      if (!other) wish.intentId = intentId;
      told({ httpStatus: null, intentId, status, outcome, code: error?.code ?? null, replayed });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      told({ httpStatus: null, intentId: null, status: null, outcome: null, code: error.error.code, replayed: false });
    }
  }

  async command(wish: Wish, operation: 'cancel' | 'replay', store: Store, gates: Gates): Promise<void> {
    const { intentId } = wish;
    if (intentId === null) return;
    const told = this.ask(wish, operation, null);
    const command =
      operation === 'cancel'
        ? ({ type: 'cancel', by: 'ada' } as const)
        : ({ type: 'replay', by: 'olga', reason: 'again' } as const);
    const seen = gatedStore(store, { name: 'operator', alive: true }, gates);
    const { kind, intent } = await seen.door.execute({ intentId, command });
    const result = intent && resultOf(intent, false);
    const code = kind === 'rejected' ? 'rejected' : (result?.error?.code ?? null);
    told({ httpStatus: null, intentId, status: result?.status ?? null, outcome: null, code, replayed: false });
  }

  private ask(
    wish: Wish,
    operation: ClientEntry['operation'],
    argsHash: string | null,
  ): (answer: ClientAnswer) => void {
    const asked = {
      requestId: wish.nextRequest(),
      operation,
      via: 'nats_request',
      ref: wish.ref,
      tool: `race.${wish.planned.kind}`,
      runId: this.session.runId,
      stepId: wish.ref,
      argsHash,
    } as const;
    this.entries.push({ at: this.time.now, phase: 'invoke', ...asked });
    return (answer) => void this.entries.push({ at: this.time.now, phase: 'answered', ...asked, answer });
  }
}
