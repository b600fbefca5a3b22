import type { Expression } from '@intendant/cel';
import { approvalOfAPerson, type RecordedDecision, type ToolDefinition } from '@intendant/contracts';
import type { Verdict } from './judge.js';
import { judgeCall, restrictionOfRun } from './judge-call.js';
import type { Kind, PolicySet, Restriction } from './policy-set.js';
import { builtIn } from './read-policy-file.js';
import { restrictionsOf } from './restrictions.js';
import { RunHistories } from './run-history.js';
import { covers } from './tool-patterns.js';
import type { Facts } from './variables.js';
import { readsPast } from './variables.js';

/** Why nobody can say what the rules would decide. */
export type Unknowable =
  /** It was decided before there were policy files: what they look at was not recorded. */
  | 'before_policies'
  /** Nothing is recorded of its run. */
  | 'no_run'
  | 'tool_not_loaded'
  /** The tool has another version now. */
  | 'tool_changed'
  /** A rule looks at arguments that are too long to be told. */
  | 'arguments_too_long'
  /** A rule looks at what the run has done, which began before the decisions that are there. */
  | 'history_cut'
  /** A rule looks at what the run has done, and another call of it was recorded at the same moment. */
  | 'same_moment';

/** What other rules make of a decision. */
export type Replayed =
  | { readonly kind: 'unchanged' }
  /** Denied by something else, which comes before the rules or is not written in them. */
  | { readonly kind: 'not_by_rules' }
  | { readonly kind: 'changed'; readonly from: Kind; readonly to: Kind; readonly verdict: Verdict }
  /** `rule`: the one that would have to be asked; null where it is not about one. */
  | { readonly kind: 'unknowable'; readonly why: Unknowable; readonly rule: string | null };

/** What decisions are judged by anew. */
export interface Candidate {
  readonly set: PolicySet;
  readonly tools: readonly Pick<ToolDefinition, 'name' | 'version' | 'permission' | 'reversible'>[];
}

/**
 * Judges decisions anew, each by what had really happened before it, whatever would have come of another decision.
 *
 * @param decisions all of some time, of at least one tenant, in any order.
 * @param completeFrom as the time of a change; of runs that were opened earlier, calls may be missing.
 */
export function replay(
  candidate: Candidate,
  decisions: readonly RecordedDecision[],
  completeFrom: string,
): Map<RecordedDecision, Replayed> {
  const judging = new Judging(candidate, new RunHistories(decisions, completeFrom));
  return new Map(decisions.map((decision) => [decision, judging.judge(decision)]));
}

/**
 * What was decided: for a person, too, where a grant stood in for one. Before anybody could be asked, a demand for approval was
 * recorded as the denial that it came to.
 */
export function kindOf({ decision, wouldAllow, reasons }: RecordedDecision): Kind {
  if (reasons?.rule === 'grant') return 'require_approval';
  if (decision !== 'deny') return decision;
  return wouldAllow === approvalOfAPerson ? 'require_approval' : 'deny';
}

type Tool = Candidate['tools'][number];
type Run = NonNullable<RecordedDecision['run']>;

class Judging {
  private readonly tools: ReadonlyMap<string, Tool>;
  /** By run. */
  private readonly ready = new Map<string, readonly Restriction[]>();

  constructor(
    private readonly candidate: Candidate,
    private readonly histories: RunHistories,
  ) {
    this.tools = new Map(candidate.tools.map((tool) => [tool.name, tool]));
  }

  judge(decision: RecordedDecision): Replayed {
    if (!isByRules(decision)) return { kind: 'not_by_rules' };
    if (decision.reasons === null) return unknowable('before_policies');
    if (decision.run === null) return unknowable('no_run');
    const tool = this.tools.get(decision.tool);
    if (tool === undefined) return unknowable('tool_not_loaded');
    if (tool.version !== decision.toolVersion) return unknowable('tool_changed');
    return this.judgeBy(decision, decision.run, tool);
  }

  private judgeBy(decision: RecordedDecision, run: Run, tool: Tool): Replayed {
    const { set } = this.candidate;
    const { tenant, args } = decision;
    const restrictions = [
      ...restrictionsOf(set, run.openedBy, tenant, tool.name),
      ...this.restrictionsOfRun(decision.runId, run).filter(({ tools }) => covers(tools, tool.name)),
    ];
    const rules = set.rulesFor(tenant).filter(({ tools }) => covers(tools, tool.name));
    const before = rules.some(({ usesRun }) => usesRun) ? this.histories.before(decision) : null;
    const known = before?.known ? before.facts : { tainted: decision.taintedBy !== null };
    const facts = { ...factsOf(decision, run, tool), run: known };

    /** Why what an expression looks at is not known; null where it is. */
    const missing = (expression: Expression | null): Unknowable | null => {
      if (args === null && expression?.reads.some(([variable]) => variable === 'args')) return 'arguments_too_long';
      return before?.known === false && expression && readsPast(expression) ? before.why : null;
    };
    const answerable = restrictions.filter(({ allow }) => missing(allow) === null);
    const clear = rules.filter(({ when }) => missing(when) === null);
    const verdict = judgeCall({ ...set, rulesFor: () => clear }, answerable, facts);
    // A rule that denies does so whatever the others say; anything else they may still change.
    if (verdict.kind === 'deny' && verdict.rule !== null) return compared(decision, verdict);
    const asked = [...restrictions.map(({ name, allow }) => ({ name, when: allow })), ...rules];
    const dark = asked.find(({ when }) => missing(when) !== null);
    const why = dark ? missing(dark.when) : null;
    return dark && why ? { kind: 'unknowable', why, rule: dark.name } : compared(decision, verdict);
  }

  private restrictionsOfRun(runId: string, { restrictions }: Run): readonly Restriction[] {
    const ready = this.ready.get(runId) ?? restrictions.map(restrictionOfRun);
    this.ready.set(runId, ready);
    return ready;
  }
}

/** Whether other rules could make a difference: it was not denied, or rules or restrictions have denied it. */
function isByRules({ decision, code, reasons }: RecordedDecision): boolean {
  return decision !== 'deny' || (code === 'rule_denied' && !isBuiltIn(reasons?.rule));
}

function unknowable(why: Unknowable) {
  return { kind: 'unknowable', why, rule: null } as const;
}

function compared(decision: RecordedDecision, verdict: Verdict): Replayed {
  const from = kindOf(decision);
  // Whatever rules allow, the tool or what the run has read may still ask for a person.
  const to = verdict.kind === 'allow' && demandsOf(decision).some(isBuiltIn) ? 'require_approval' : verdict.kind;
  return to === from ? { kind: 'unchanged' } : { kind: 'changed', from, to, verdict };
}

/** Rules that have asked for a person, of whom one was asked or had agreed beforehand. */
function demandsOf({ demandedBy, reasons }: RecordedDecision): readonly string[] {
  const met = reasons?.rule === 'grant' ? reasons.inputs['demandedBy'] : null;
  return Array.isArray(met) ? (met as readonly string[]) : demandedBy;
}

function factsOf(
  { tenant, user, phase, sandbox, effect, args, costMicros }: RecordedDecision,
  { profile, permissions }: Run,
  { name, version, permission, reversible }: Tool,
): Omit<Facts, 'run'> {
  return {
    session: { tenant, user, profile, phase, permissions },
    tool: { name, version, effect, permission, reversible },
    ...{ args: args ?? {}, sandbox, cost: costMicros / 1_000_000 },
  };
}

/** `default` is the files' own. */
function isBuiltIn(rule: string | null | undefined): boolean {
  return typeof rule === 'string' && rule !== 'default' && builtIn.has(rule);
}
