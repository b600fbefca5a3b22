import type { History } from '../history/history.js';
import { invariants, type Violation } from '../history/violation.js';
import { answersAreTrue } from './answers.js';
import { sentAsAgreed } from './approvals.js';
import { atMostOneEffect, stateTellsEffects } from './effects.js';
import type { Rule } from './finding.js';
import { endsHaveGrounds } from './grounds.js';
import { logIsWhole } from './log-rules.js';
import { logIsPublished, oneEndIsTold } from './publications.js';
import { oneAtATime, resentOnGrounds } from './resends.js';
import { everythingSettles, nothingLeaks, settlesInTime } from './rest.js';
import { readStories } from './story.js';
import { conflictsStayHere, submitsAreKept } from './submissions.js';
import { timelineOf } from './timeline.js';
import { recordedBeforeSent } from './wire.js';

const rules: readonly Rule[] = [
  atMostOneEffect,
  submitsAreKept,
  everythingSettles,
  endsHaveGrounds,
  stateTellsEffects,
  recordedBeforeSent,
  oneAtATime,
  resentOnGrounds,
  logIsWhole,
  logIsPublished,
  conflictsStayHere,
  answersAreTrue,
  oneEndIsTold,
  nothingLeaks,
  settlesInTime,
  sentAsAgreed,
];

/**
 * Everything in a history that breaks one of the invariants I1 to I15 (docs/fault-testing.md), in their order. It knows the
 * product from its design only, and shares no code with it.
 */
export function check(history: History): Violation[] {
  const stories = readStories(history);
  const findings = rules.flatMap((rule) => rule(history, stories));
  return findings
    .map(({ rule, message, story, lines }) => ({
      rule,
      message: story ? `intent ${story.id} of ${story.row?.tool ?? 'an unknown tool'}: ${message}` : message,
      intentId: story?.id ?? null,
      timeline: story ? timelineOf(history, story) : (lines ?? []),
    }))
    .sort((a, b) => invariants.indexOf(a.rule) - invariants.indexOf(b.rule));
}
