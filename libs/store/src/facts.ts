import type { Facts } from '@intendant/contracts';
import type { Command, Holdings } from '@intendant/intent';

/** A token bucket: what is in it grows steadily up to what it holds. */
export interface Rate {
  readonly id: string;
  readonly perMs: number;
  readonly capacity: number;
}

/** What a new intent needs beside a place in the log. */
export interface Claim {
  readonly runId: string;
  /** The run as whoever claims knows it; null: not known. */
  readonly revision: number | null;
  /** One token of each. */
  readonly rates: readonly Rate[];
  /** What looks the same is looked for as far back as this, in ms; null: not at all. */
  readonly alikeForMs: number | null;
  /** Digests of identifiers that are looked for in earlier results of the run. */
  readonly identifiers: readonly string[];
  /** Whether a person has refused the like of it is looked for; null: not. */
  readonly gist: string | null;
  /** Grants of this tenant for this tool are looked for; null: none are. */
  readonly grantsFor: { readonly tenant: string; readonly tool: string } | null;
  /** Asks for what the run has done before. */
  readonly past: boolean;
  /** Decides by what the run has done: nothing may be added to it meanwhile. */
  readonly exact: boolean;
}

/**
 * A record that is decided on facts. `command` is right as long as nothing stands in its way, and writing it confirms
 * that nothing does; otherwise `judge` decides, on everything there is to know.
 */
export interface Admission {
  readonly claim: Claim;
  /** Whether it can be right without facts. */
  readonly needsFacts: boolean;
  /** @throws what the caller of the door gets, where nothing is to be recorded */
  judge(facts: Facts): Extract<Command, { type: 'record' }>;
}

/** What the append has to confirm of a run. */
export interface Expected {
  readonly runId: string;
  readonly revision: number | null;
  /** When `used` was counted; null: it was not. */
  readonly stamp: number | null;
  readonly used: Holdings | null;
  /** It may have done nothing since. */
  readonly exact: boolean;
}
