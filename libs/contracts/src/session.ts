/** What a verified run token says about the caller. It is the only source of identity. */
export interface Session {
  readonly tenant: string;
  readonly runId: string;
  readonly user: string;
  readonly permissions: readonly string[];
  readonly phase: string | null;
  readonly profile: 'interactive' | 'batch';
  /** Every call of the run goes to the sandbox of its tool. False when left out, as in tokens from before. */
  readonly sandbox?: boolean;
  /** Ms since the epoch. */
  readonly expiresAt: number;
}
