/** What somebody has agreed to in advance. */
export interface GrantTerms {
  readonly tenant: string;
  readonly tool: string;
  /** CEL over `args`, `session` and `tool`: true where a call is agreed to; null: whatever its arguments. */
  readonly when: string | null;
  readonly maxUses: number;
  /** Sum of what its uses may cost, in units of the tool's cost; null: no limit. */
  readonly maxTotal: number | null;
  /** Only for runs of this user; null: of any. */
  readonly user: string | null;
  /** For calls of the sandbox, and for nothing real. */
  readonly sandbox: boolean;
  readonly reason: string;
}

/** Standing approval: it takes the place of a person's yes until it is used up, over or revoked. */
export interface Grant extends GrantTerms {
  readonly id: string;
  /** Of the tool, when it was given: it is for no other. */
  readonly toolVersion: number;
  /** Name of the operator. */
  readonly givenBy: string;
  /** ISO 8601, as all times here. */
  readonly givenAt: string;
  readonly expiresAt: string;
  readonly revokedAt: string | null;
  readonly revokedBy: string | null;
  /** Neither revoked nor over; it may be used up all the same. */
  readonly inForce: boolean;
  /** Intents that go by it and have happened, or may have, or still may. */
  readonly used: number;
  /** What they cost, in units. */
  readonly spent: number;
  readonly left: { readonly uses: number; readonly total: number | null };
}

export const grantLimits = {
  uses: 10_000,
  longestMs: 30 * 24 * 3_600_000,
  whenLength: 2_000,
  reasonLength: 500,
  /** In force at once for one tool of a tenant. */
  perTool: 100,
} as const;
