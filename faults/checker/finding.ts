import type { History } from '../history/history.js';
import type { Invariant, TimelineLine } from '../history/violation.js';
import type { Stories, Story } from './story.js';

/** A broken invariant, before its story is told. */
export interface Finding {
  readonly rule: Invariant;
  readonly message: string;
  /** Null where it is about no single intent; then `lines` tell what there is to tell. */
  readonly story: Story | null;
  readonly lines?: readonly TimelineLine[];
}

/** Looks for breaks of one invariant, or of a few that belong together. */
export type Rule = (history: History, stories: Stories) => Finding[];

/** A rule that looks at one intent at a time. */
export function perStory(find: (story: Story, history: History) => Finding[]): Rule {
  return (history, { all }) => all.flatMap((story) => find(story, history));
}

/**
 * How far the times of two processes of one machine may be apart, in ms: the upstream and the rig read the system clock,
 * which Node cuts off to whole ms. PostgreSQL takes the time of a commit before it writes it to disk, so that what may
 * only follow a commit comes later by more than this.
 */
export const clockMs = 1;
