import type { RecordedDecision } from '@intendant/contracts';
import type { Kind, Replayed, Unknowable } from '@intendant/rules';

/** Of each group, this many intents are named. */
const mostExamples = 5;

interface Group {
  readonly count: number;
  /** The first few. */
  readonly intents: readonly string[];
}

/** Decisions that would change in the same way, by the same rule. */
export interface Changes extends Group {
  readonly from: Kind;
  readonly to: Kind;
  /** The rule that would decide; null: none matches. */
  readonly rule: string | null;
  /** The rule that has decided; null: none had objected. */
  readonly before: string | null;
  /** Why the rule cannot be evaluated for the first of them; null where it can. */
  readonly error: string | null;
}

export interface Unknowns extends Group {
  readonly why: Unknowable;
  /** The rule that would have to be asked; null where it is not about one. */
  readonly rule: string | null;
}

export interface Tally {
  readonly totals: {
    readonly decisions: number;
    readonly changed: number;
    readonly unchanged: number;
    readonly notByRules: number;
    readonly unknowable: number;
  };
  readonly changes: readonly Changes[];
  readonly unknowable: readonly Unknowns[];
}

/** Adds up what would become of decisions; the largest group first. */
export function tallyOf(replayed: Iterable<readonly [RecordedDecision, Replayed]>): Tally {
  const totals = { decisions: 0, changed: 0, unchanged: 0, notByRules: 0, unknowable: 0 };
  const changes = new Groups<Omit<Changes, keyof Group>>();
  const unknowable = new Groups<Omit<Unknowns, keyof Group>>();
  for (const [{ intentId, reasons }, outcome] of replayed) {
    totals.decisions += 1;
    switch (outcome.kind) {
      case 'unchanged':
        totals.unchanged += 1;
        break;
      case 'not_by_rules':
        totals.notByRules += 1;
        break;
      case 'changed': {
        const { from, to, verdict } = outcome;
        totals.changed += 1;
        const before = reasons?.rule ?? null;
        const { rule, error } = verdict;
        changes.add([from, to, rule, before, error !== null], { from, to, rule, before, error }, intentId);
        break;
      }
      case 'unknowable': {
        const { why, rule } = outcome;
        totals.unknowable += 1;
        unknowable.add([why, rule], { why, rule }, intentId);
        break;
      }
    }
  }
  return { totals, changes: changes.sorted, unknowable: unknowable.sorted };
}

class Groups<T extends object> {
  private readonly groups = new Map<string, T & { count: number; intents: string[] }>();

  /** `said` is that of the first in its group. */
  add(by: readonly unknown[], said: T, intentId: string): void {
    const key = JSON.stringify(by);
    const group = this.groups.get(key) ?? { ...said, count: 0, intents: [] };
    group.count += 1;
    if (group.intents.length < mostExamples) group.intents.push(intentId);
    this.groups.set(key, group);
  }

  get sorted(): (T & Group)[] {
    return [...this.groups.values()].toSorted((a, b) => b.count - a.count);
  }
}
