import type { History } from './history.js';
import type { IntentTrace, Outage } from './traces.js';

/** What states are counted from: what was written down, and never what was ordered. */
export interface Evidence {
  readonly history: History;
  readonly traces: readonly IntentTrace[];
  readonly outages: readonly Outage[];
}

/** A situation in which the promise could be broken. A run in which it never came up says nothing about it. */
export interface DangerousState {
  readonly name: string;
  /** One sentence: what happened when it is counted. */
  readonly meaning: string;
  count(evidence: Evidence): number;
}
