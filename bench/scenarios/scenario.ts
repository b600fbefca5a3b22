import type { Installation } from '../installation.js';
import type { Messages } from '../messages.js';
import { cell, type Row } from './table.js';

export type { Row };

/** How Intendant runs: as one process, or as a process per service. */
export type Mode = 'standalone' | 'services';

/** What a scenario has at hand. */
export interface Around {
  readonly installation: Installation;
  readonly messages: Messages;
  /** How Intendant runs; each scenario goes through those that make sense for it. */
  readonly modes: readonly Mode[];
  readonly rounds: number;
  /** Requests in flight. */
  readonly concurrency: number;
  /** Seconds instead of minutes: shows that the scenario works; the figures say little. */
  readonly quick: boolean;
  /** Intents of the past in `growth`; null for ten million, or few when it has to be quick. */
  readonly fill: number | null;
  /** Tells what is going on. */
  readonly say: (line: string) => void;
}

export interface Verdict {
  readonly what: string;
  readonly value: number;
  /** Such as `≥ 0.7`. */
  readonly target: string;
  readonly holds: boolean;
}

export interface Outcome {
  readonly rows: readonly Row[];
  readonly verdicts: readonly Verdict[];
  /** What was lost, doubled, left open or wrong; has to be empty whatever the figures are. */
  readonly faults: readonly string[];
  /** How it was measured, where that is not obvious. */
  readonly notes: readonly string[];
}

export interface Scenario {
  readonly name: string;
  /** One line for the report. */
  readonly about: string;
  run(around: Around): Promise<Outcome>;
}

export function atLeast(what: string, value: number, bound: number): Verdict {
  return { what, value, target: `≥ ${cell(bound)}`, holds: value >= bound };
}

export function atMost(what: string, value: number, bound: number): Verdict {
  return { what, value, target: `≤ ${cell(bound)}`, holds: value <= bound };
}
