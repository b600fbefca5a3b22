/** What a verified run token says about the caller. It is the only source of identity. */
export interface Session {
  readonly tenant: string;
  readonly runId: string;
  readonly user: string;
  readonly permissions: readonly string[];
  readonly phase: string | null;
  readonly profile: 'interactive' | 'batch';
  /** Ms since the epoch. */
  readonly expiresAt: number;
}
