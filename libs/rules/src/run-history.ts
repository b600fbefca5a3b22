import { type Change, longestPast, type RecordedDecision } from '@intendant/contracts';
import {
  evolve,
  type Holdings,
  holdingsOf,
  type Intent,
  type IntentEvent,
  isHeld,
  noHoldings,
  type Proposal,
  type StateName,
  sumOfHoldings,
} from '@intendant/intent';
import type { PastCall, RunFacts } from './variables.js';

const micros = 1_000_000;

/** An earlier call, as it was from a moment on. */
interface Stage {
  readonly at: string;
  readonly state: StateName;
  readonly held: boolean;
  readonly takes: Holdings;
}

interface Call {
  readonly decision: RecordedDecision;
  readonly stages: readonly Stage[];
}

/** Of the run of a decision: what it had done before, or why that cannot be told. */
export type Before =
  | { readonly known: true; readonly facts: Partial<RunFacts> }
  | { readonly known: false; readonly why: 'history_cut' | 'same_moment' };

/** What runs had done at the moment of each of their decisions, from nothing but the decisions themselves. */
export class RunHistories {
  private readonly decisions = new Map<string, RecordedDecision[]>();
  /** Of the runs that somebody has asked about, in the order of their ids, as the store reads them. */
  private readonly calls = new Map<string, readonly Call[]>();

  /** @param completeFrom of runs that were opened earlier, the beginning is not there. */
  constructor(
    decisions: readonly RecordedDecision[],
    private readonly completeFrom: string,
  ) {
    for (const decision of decisions) {
      const ofRun = this.decisions.get(decision.runId) ?? [];
      ofRun.push(decision);
      this.decisions.set(decision.runId, ofRun);
    }
  }

  before({ intentId, runId, at, run, taintedBy, sandbox }: RecordedDecision): Before {
    if (run === null || run.openedAt < this.completeFrom) return { known: false, why: 'history_cut' };
    const calls = this.callsOf(runId);
    // Calls that are made at once share a transaction and its time; nobody has kept which of them came first.
    if (calls.some(({ decision }) => decision.at === at && decision.intentId !== intentId)) {
      return { known: false, why: 'same_moment' };
    }
    const now = Date.parse(at);
    const earlier = calls
      .filter(({ decision }) => decision.at < at)
      .map((call) => ({ call, stage: stageAt(call, at) }));
    const used = earlier.reduce((sum, { stage }) => sumOfHoldings(sum, stage.takes), noHoldings);
    const told = (which: (stage: Stage) => boolean) => {
      const all = earlier.filter(({ stage }) => which(stage)).toReversed();
      // What the services do not see either.
      if (all.length > longestPast) return null;
      const ofKind = all.filter(({ call }) => call.decision.sandbox === sandbox);
      return ofKind.map(({ call, stage }) => pastCall(call.decision, stage, now));
    };
    const history = told(({ held }) => held);
    const denied = told(({ state }) => state === 'denied');
    const { calls: made, mutating, destructive, cost } = used;
    return {
      known: true,
      facts: {
        ...{ ageSeconds: age(run.openedAt, now), tainted: taintedBy !== null },
        ...{ calls: made, mutating, destructive, cost: cost / micros },
        ...(history && { history }),
        ...(denied && { denied }),
      },
    };
  }

  private callsOf(runId: string): readonly Call[] {
    const known = this.calls.get(runId);
    if (known) return known;
    const decisions = this.decisions.get(runId) ?? [];
    const calls = decisions
      .toSorted((a, b) => (a.intentId < b.intentId ? -1 : 1))
      .map((decision) => ({ decision, stages: stagesOf(decision) }));
    this.calls.set(runId, calls);
    return calls;
  }
}

/** What happened at that very moment was not seen yet: facts are read before a decision is recorded. */
function stageAt({ stages }: Call, at: string): Stage {
  const stage = stages.findLast((each) => each.at < at);
  if (stage === undefined) throw new Error('a decision without an event');
  return stage;
}

function pastCall({ tool, effect, args, costMicros, at }: RecordedDecision, { state }: Stage, now: number): PastCall {
  return { tool, effect, state, args: args ?? {}, cost: costMicros / micros, ageSeconds: age(at, now) };
}

function age(at: string, now: number): number {
  return Math.max(0, (now - Date.parse(at)) / 1_000);
}

/** By the same steps and sums that the store goes by; one stage for each moment. */
function stagesOf(decision: RecordedDecision): Stage[] {
  const stages = new Map<string, Stage>();
  let intent: Intent | null = null;
  for (const change of decision.changes) {
    intent = evolve(intent, eventOf(change, decision), Date.parse(change.at));
    const { at } = change;
    stages.set(at, { at, state: intent.state, held: isHeld(intent), takes: holdingsOf(intent) });
  }
  return [...stages.values()];
}

/** Enough of an event for its step: what a change leaves out changes neither the state nor what is held. */
function eventOf(change: Change, { effect, sandbox, costMicros }: RecordedDecision): IntentEvent {
  if (change.type === 'approval_requested') return { ...change, request: { digest: '' } } as unknown as IntentEvent;
  // Who it was is not told, and counts for nothing here.
  if (change.type !== 'recorded') return { by: '', ...change } as unknown as IntentEvent;
  const proposal = { terms: { effect, maxAttempts: 1 }, sandbox, cost: costMicros, expiresAt: 0 };
  return { type: 'recorded', proposal: proposal as unknown as Proposal };
}
