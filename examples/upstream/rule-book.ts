import type { Behaviour, LookupFault, Rule, RuleMatch } from './behaviour.js';
import { readRule } from './read-rule.js';

interface Facts {
  readonly path: string;
  readonly key: string | null;
  readonly body: string;
}

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
  readonly #lookupFaults = new Map<string, LookupFault>();

  /** Throws a TypeError when the rule is not one. */
  add(rule: unknown): void {
    const read = readRule(rule);
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
    if (behaviour.lookup !== undefined) this.#lookupFaults.set(`${facts.path} ${facts.key}`, behaviour.lookup);
    return behaviour;
  }

  forLookup(path: string, key: string): LookupFault | undefined {
    return this.#take({ path, key, body: '' }, true)?.lookup ?? this.#lookupFaults.get(`${path} ${key}`);
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
