import type { Effect, Holdings, JsonObject, StateName } from '@intendant/intent';
import type { Budgets } from './budgets.js';

/** What was done before in a run, or somewhere else that looks like it. */
export interface Past {
  readonly tool: string;
  readonly effect: Effect;
  readonly state: StateName;
  readonly held: boolean;
  readonly sandbox: boolean;
  /** Millionths of a unit. */
  readonly cost: number;
  /** When it was recorded, in ms since the epoch. */
  readonly at: number;
  /** Null where they are too long. */
  readonly args: JsonObject | null;
}

/** An intent that stands in the way of another. */
export interface Other {
  readonly intentId: string;
  readonly runId: string;
  readonly state: StateName;
}

/** What a person has said no to. */
export interface Refused {
  readonly intentId: string;
  readonly by: string;
  readonly reason: string;
}

/** A grant in force, as admission knows it. */
export interface StandingGrant {
  readonly id: string;
  readonly toolVersion: number;
  readonly when: string | null;
  readonly user: string | null;
  readonly sandbox: boolean;
  readonly givenBy: string;
  /** Of the giver, when it was given. */
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  readonly usesLeft: number;
  /** Millionths of a unit; null: no limit. */
  readonly costLeft: number | null;
}

/** What decisions about a new intent go by, as of one moment. The store knows it, the rules of admission read it. */
export interface Facts {
  /** Ms since the epoch, on the database clock. */
  readonly now: number;
  /** Null: there is no such run. */
  readonly run: {
    readonly revision: number;
    readonly phase: string | null;
    readonly closed: boolean;
    readonly taintedBy: string | null;
    readonly openedAt: number;
    readonly actsUntil: number | null;
    readonly expiresAt: number;
    readonly budgets: Omit<Budgets, 'wallClockMs'>;
    readonly used: Holdings;
    /** How many of its intents were denied. */
    readonly denied: number;
    /**
     * The newest first; empty where nobody asked. More than {@link longestPast} that happened, or that were denied, are not
     * all there.
     */
    readonly past: readonly Past[];
  } | null;
  /** Who holds the operation; null: nobody. */
  readonly holder: Other | null;
  /** Of each rate of the claim, how many tokens there are. */
  readonly tokens: ReadonlyMap<string, number>;
  /** The newest that looks the same; null: none. */
  readonly alike: (Other & { readonly at: number }) | null;
  /** Digests of identifiers, and where they were found: `orders.get#/id`. */
  readonly found: ReadonlyMap<string, ReadonlySet<string>>;
  /** The first of its kind that a person has refused; null: none, or nobody asked. */
  readonly refused: Refused | null;
  /** Those for its tool, the one that is over first first; empty where nobody asked. */
  readonly grants: readonly StandingGrant[];
  /** Intents of the run that are not over. */
  readonly open: readonly (Other & {
    readonly tool: string;
    readonly fingerprint: string;
    readonly sandbox: boolean;
    /** What a refusal of it would be remembered by; null: nobody was asked about it. */
    readonly gist: string | null;
  })[];
}

/** Of the past of a run a rule sees so many calls that happened, and so many that were denied; of more, none. */
export const longestPast = 200;
