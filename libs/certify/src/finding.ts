import type { Story } from './effect.js';

/** The probes of a campaign, in the order in which they are reported. */
export const probes = [
  'plain',
  'receipts',
  'never_used',
  'stale_lookup',
  'late_commit',
  'duplicate',
  'duplicate_at_once',
  'lost_reply',
  'killed_before_first_byte',
  'killed_after_headers',
  'killed_after_request',
  'killed_after_reply',
  'error_500',
  'error_502',
  'error_503',
  'error_504',
  'forgotten_key',
  'hidden_resender',
  'last_look',
] as const;
export type ProbeName = (typeof probes)[number];

/** What one probe found out. */
export interface Finding {
  readonly probe: ProbeName;
  /**
   * `failed`: the upstream, or the reading of its answers, breaks what the tool file declares. `observed`: the file
   * declares nothing about it. `not_testable`: nothing was learned; `says` tells why.
   */
  readonly result: 'passed' | 'failed' | 'observed' | 'not_testable';
  /** One sentence for the owner of the tool, with the facts. */
  readonly says: string;
  /** The effects it is based on. */
  readonly evidence: readonly Story[];
  /** What it means for a repeated request under one key: one effect, or more than one. */
  readonly repeats?: 'one' | 'more';
  /** Whether the lookup told the truth, apart from how soon. */
  readonly lookup?: 'right' | 'wrong';
}
