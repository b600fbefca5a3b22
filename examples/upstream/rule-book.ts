import type { Behaviour, LookupFault, Rule, RuleMatch } from './behaviour.js';
import { readRule } from './read-rule.js';

interface Facts {
  readonly path: string;
  readonly key: string | null;
  /** For a read, the query. */
  readonly body: string;
}

/** So many lookups of a key go wrong, then none. */
const NUMBERED = /^(error|hang):(\d+)$/;

function agrees(match: RuleMatch, facts: Facts): boolean {
  return (
    (match.path === undefined || match.path === facts.path) &&
    (match.key === undefined || match.key === facts.key) &&
    (match.bodyContains === undefined || facts.body.includes(match.bodyContains))
  );
}

function isAboutLookups(behaviour: Behaviour): boolean {
  return Object.keys(behaviour).every((name) => name === 'lookup') && behaviour.lookup !== undefined;
}

/** The orders to misbehave that are still open. */
export class RuleBook {
  #open: { readonly rule: Rule; left: number }[] = [];
  readonly #lookupFaults = new Map<string, { readonly fault: LookupFault; left: number }>();

  /** Throws a TypeError when the rule is not one. */
  add(rule: unknown): void {
    const read = readRule(rule);
    if (isAboutLookups(read.behaviour) && NUMBERED.test(read.behaviour.lookup ?? '')) {
      throw new TypeError('behaviour.lookup cannot have a number in a rule about lookups; say it with times');
    }
    const times = read.times ?? 1;
    this.#open.push({ rule: read, left: times === 'always' ? Number.POSITIVE_INFINITY : times });
  }

  clear(): void {
    this.#open = [];
    this.#lookupFaults.clear();
  }

  /** What to do with this request; uses up one use of the rule it comes from. */
  forRequest(facts: Facts): Behaviour {
    const behaviour = this.#take(facts, false) ?? {};
    if (behaviour.lookup !== undefined) this.#remember(`${facts.path} ${facts.key}`, behaviour.lookup);
    return behaviour;
  }

  forLookup(path: string, key: string): LookupFault | undefined {
    const ordered = this.#take({ path, key, body: '' }, true)?.lookup;
    if (ordered !== undefined) return ordered;
    const remembered = this.#lookupFaults.get(`${path} ${key}`);
    if (remembered === undefined || remembered.left === 0) return undefined;
    remembered.left -= 1;
    return remembered.fault;
  }

  #remember(name: string, fault: LookupFault): void {
    const [, kind, times] = NUMBERED.exec(fault) ?? [];
    const limited =
      kind === undefined ? { fault, left: Number.POSITIVE_INFINITY } : { fault: kind, left: Number(times) };
    this.#lookupFaults.set(name, limited as { fault: LookupFault; left: number });
  }

  #take(facts: Facts, lookup: boolean): Behaviour | undefined {
    const found = this.#open.find(
      ({ rule, left }) => left > 0 && isAboutLookups(rule.behaviour) === lookup && agrees(rule.match, facts),
    );
    if (found === undefined) return undefined;
    found.left -= 1;
    return found.rule.behaviour;
  }
}
