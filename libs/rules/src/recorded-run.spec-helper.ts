import type { Change, RecordedDecision, Restriction } from '@intendant/contracts';
import {
  type ApprovalRequest,
  type Command,
  decide,
  type Effect,
  evolve,
  holdingsOf,
  type Intent,
  type IntentEvent,
  isHeld,
  type JsonObject,
  noHoldings,
  type Proposal,
  type Ruling,
  sumOfHoldings,
  type Terms,
} from '@intendant/intent';
import { judgeCall, restrictionOfRun } from './judge-call.js';
import type { PolicySet } from './policy-set.js';
import { restrictionsOf } from './restrictions.js';
import type { Facts, PastCall } from './variables.js';

export const opened = Date.UTC(2026, 0, 31);
/** As the store writes times. */
export const stamp = (ms: number) => `${new Date(ms).toISOString().slice(0, -1)}000Z`;

const terms: Terms = {
  ...{ effect: 'destructive', guarantee: 'idempotency_key', lookup: 'authoritative', maxAttempts: 3 },
  ...{ leaseMs: 5_000, settleMs: 1_000, spacingMs: 500, retentionMs: 86_400_000, deadlineMs: 60_000, backoffMs: 100 },
};

export interface Submitted {
  readonly tool?: string;
  readonly effect?: Effect;
  readonly args?: JsonObject;
  /** In units. */
  readonly cost?: number;
  readonly sandbox?: boolean;
  readonly phase?: string;
  /** Denied before the rules are asked. */
  readonly denied?: string;
  /** Something that is no written rule asks for a person. */
  readonly demandedBy?: string;
}

interface Entry {
  intent: Intent;
  readonly events: { readonly event: IntentEvent; readonly at: number }[];
  readonly reasons: RecordedDecision['reasons'];
  readonly demandedBy: readonly string[];
  /** What the call was judged by. */
  readonly facts: Facts;
}

/** A run whose calls are judged by policy files and decided by the real domain, on a clock of its own. */
export class RecordedRun {
  now = opened + 1_000;
  tainted: string | null = null;
  private readonly entries: Entry[] = [];

  constructor(
    private readonly set: PolicySet,
    readonly runId = 'run_1',
    private readonly restrictions: readonly Restriction[] = [],
    private readonly openedBy = 'bot',
  ) {}

  /** A second later than what was before; returns the id of the intent. */
  submit(call: Submitted = {}): string {
    this.now += 1_000;
    const { tool = 'payments.refund.create', effect = 'destructive', args = {}, cost = 0, sandbox = false } = call;
    const intentId = `${this.runId}-${String(this.entries.length).padStart(4, '0')}`;
    const proposal = {
      ...{
        intentId,
        tenant: 'acme',
        runId: this.runId,
        user: 'ada',
        stepId: null,
        tool,
        toolVersion: 1,
        args,
        sandbox,
      },
      ...{ contractDigest: '', injected: {}, dropped: [], key: intentId, fingerprint: '', traceparent: null },
      ...{ terms: { ...terms, effect }, expiresAt: opened + 3_600_000, cost: cost * 1_000_000 },
      ...(call.phase !== undefined && { phase: call.phase }),
      ...(this.tainted !== null && { taintedBy: this.tainted }),
    } satisfies Proposal;
    const facts = this.factsFor(proposal);
    const ruling = this.rule(facts, call.denied ?? null, call.demandedBy ?? null);
    const events = eventsOf(decide({ type: 'record', proposal, ruling }, null, this.now));
    const demands = ruling.allow === 'approved' ? ruling.request.demands : [];
    const entry = { events: [], reasons: ruling.reasons ?? null, demandedBy: demands.map(({ rule }) => rule), facts };
    this.entries.push(this.append({ intent: null, ...entry }, events));
    return intentId;
  }

  /** A second later, something happens to an intent; nothing where the domain will not have it. */
  change(intentId: string, command: Command): void {
    this.now += 1_000;
    const index = this.entries.findIndex(({ intent }) => intent.proposal.intentId === intentId);
    const entry = this.entries[index] as Entry;
    const events = eventsOf(decide(command, entry.intent, this.now));
    this.entries[index] = this.append(entry, events);
  }

  start(intentId: string): void {
    const version = this.entries.find(({ intent }) => intent.proposal.intentId === intentId)?.intent.version ?? 0;
    const verified = { version, matching: [digest], differs: [], renewed: null };
    this.change(intentId, { type: 'start_attempt', attemptId: `${intentId}-${this.now}`, verified });
  }

  /** Of the open attempt. */
  report(intentId: string, verdict: Extract<Command, { type: 'record_verdict' }>['verdict']): void {
    const attemptId =
      this.entries.find(({ intent }) => intent.proposal.intentId === intentId)?.intent.attempts.at(-1)?.attemptId ?? '';
    this.change(intentId, { type: 'record_verdict', attemptId, verdict, jitter: 0 });
  }

  commit(intentId: string): void {
    this.start(intentId);
    this.report(intentId, { kind: 'executed', data: {} });
  }

  get ids(): string[] {
    return this.entries.map(({ intent }) => intent.proposal.intentId);
  }

  /** What each call was judged by, by its intent. */
  get facts(): ReadonlyMap<string, Facts> {
    return new Map(this.entries.map(({ intent, facts }) => [intent.proposal.intentId, facts]));
  }

  /** As the gateway tells them. */
  get decisions(): RecordedDecision[] {
    return this.entries.map(({ intent: { proposal, ...intent }, events, reasons, demandedBy }) => {
      const { intentId, tenant, runId, user, phase = null, sandbox, tool, toolVersion, args } = proposal;
      const [, { event: decided }] = events as [unknown, Entry['events'][number]];
      const denied = decided.type === 'denied' ? decided.failure : null;
      const asked = decided.type === 'approval_requested';
      return {
        ...{
          intentId,
          at: stamp(intent.recordedAt),
          tenant,
          runId,
          user,
          phase,
          sandbox,
          tool,
          toolVersion,
          args,
          reasons,
        },
        ...{ effect: proposal.terms.effect, costMicros: proposal.cost ?? 0, taintedBy: proposal.taintedBy ?? null },
        ...{ decision: denied ? 'deny' : asked ? 'require_approval' : 'allow', demandedBy, code: denied?.code ?? null },
        wouldAllow: (denied?.details['wouldAllow'] as string | undefined) ?? null,
        run: {
          ...{ profile: 'interactive', permissions: ['payments:*'], openedBy: this.openedBy, openedAt: stamp(opened) },
          restrictions: this.restrictions,
        },
        changes: events.map(({ event, at }) => changeOf(event, at)),
      };
    });
  }

  private rule(facts: Facts, denied: string | null, demandedBy: string | null): Ruling {
    const policy = this.set.version;
    if (denied !== null) {
      const failure = { code: denied, message: '', details: {} };
      return { allow: false, failure, reasons: { policy, rule: denied, inputs: {} } };
    }
    const ofRun = this.restrictions.map(restrictionOfRun);
    const ofKey = restrictionsOf(this.set, this.openedBy, 'acme', facts.tool.name);
    const { kind, rule, inputs } = judgeCall(this.set, [...ofKey, ...ofRun], facts);
    if (kind === 'deny') {
      const reasons = { policy, rule: rule ?? 'default', inputs };
      return { allow: false, failure: { code: 'rule_denied', message: '', details: { wouldAllow: null } }, reasons };
    }
    const demands = [kind === 'require_approval' ? (rule ?? 'default') : [], demandedBy ?? []].flat();
    const [first = null] = demands;
    if (first === null) return { allow: true, reasons: { policy, rule, inputs } };
    const request = requestFor(demands, opened + 3_600_000);
    return { allow: 'approved', request, reasons: { policy, rule: first, inputs } };
  }

  /** By the intents as they are now, as the store reads them. */
  private factsFor({ tool, toolVersion, terms: { effect }, args, sandbox, cost = 0, phase }: Proposal): Facts {
    const ageSeconds = (at: number) => (this.now - at) / 1_000;
    const past = ({ proposal: p, state, recordedAt }: Intent): PastCall => ({
      ...{ tool: p.tool, effect: p.terms.effect, state, args: p.args, cost: (p.cost ?? 0) / 1_000_000 },
      ageSeconds: ageSeconds(recordedAt),
    });
    const intents = this.entries.map(({ intent }) => intent);
    const used = intents.map(holdingsOf).reduce(sumOfHoldings, noHoldings);
    const ofKind = intents.toReversed().filter(({ proposal }) => proposal.sandbox === sandbox);
    return {
      session: {
        tenant: 'acme',
        user: 'ada',
        profile: 'interactive',
        phase: phase ?? null,
        permissions: ['payments:*'],
      },
      tool: { name: tool, version: toolVersion, effect, permission: 'payments:refund', reversible: null },
      ...{ args, sandbox, cost: cost / 1_000_000 },
      run: {
        ...{ ageSeconds: ageSeconds(opened), tainted: this.tainted !== null },
        ...{ ...used, cost: used.cost / 1_000_000 },
        history: ofKind.filter(isHeld).map(past),
        denied: ofKind.filter(({ state }) => state === 'denied').map(past),
      },
    };
  }

  private append(
    entry: Omit<Entry, 'intent'> & { readonly intent: Intent | null },
    events: readonly IntentEvent[],
  ): Entry {
    const intent = events.reduce<Intent | null>((before, event) => evolve(before, event, this.now), entry.intent);
    return {
      ...entry,
      intent: intent as Intent,
      events: [...entry.events, ...events.map((event) => ({ event, at: this.now }))],
    };
  }
}

/** Of everything that is asked. */
export const digest = 'd1';

function requestFor(rules: readonly string[], expiresAt: number): ApprovalRequest {
  return {
    ...{ nonce: 'n', digest, toolFile: '', policy: '', view: '', impact: null, reversible: null, undo: null },
    ...{
      redact: [],
      quorum: 1,
      roles: [],
      groups: [],
      selfApproval: false,
      remember: 'run',
      alike: null,
      preview: null,
    },
    demands: rules.map((rule) => ({ rule, message: '' })),
    expiresAt,
  };
}

function eventsOf(decision: ReturnType<typeof decide>): readonly IntentEvent[] {
  return decision.kind === 'accepted' ? decision.events : [];
}

/** The fields that the store tells of an event. */
function changeOf(event: IntentEvent, at: number): Change {
  const told = [
    'basis',
    'attempt',
    'sent',
    'absences',
    'finding',
    ...(event.type === 'dead_lettered' ? ['reason'] : []),
  ];
  const fields = Object.entries(event).filter(([name, value]) => told.includes(name) && value !== null);
  return { at: stamp(at), type: event.type, ...Object.fromEntries(fields) };
}
