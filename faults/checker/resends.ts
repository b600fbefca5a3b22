import type { History, ToolPromise } from '../history/history.js';
import { isRead } from './effects.js';
import { clockMs, type Finding, perStory } from './finding.js';
import type { LoggedAttempt } from './log.js';
import type { RequestLine, Story } from './story.js';
import { overlapping } from './timeline.js';
import { count, duration } from './wording.js';

/** I6: one attempt at a time, and none before an earlier one has settled. */
export const oneAtATime = perStory((story) =>
  sent(story).flatMap(({ line, attempt }) => [
    ...besides(line, attempt, story),
    ...unsettled(line, attempt, story),
    ...afterLease(attempt, story),
  ]),
);

/** I7: sent again after an unknown outcome only on two absences, or under a key that the upstream remembers. */
export const resentOnGrounds = perStory((story, history) =>
  sent(story).flatMap(({ line, attempt }) => {
    const { tool } = story;
    if (!tool || isRead(story) || doubtful(attempt).length === 0 || unsettled(line, attempt, story).length > 0)
      return [];
    if (keyIsKnown(line, story, tool)) return [];
    const missing = missingGrounds(line, attempt, story, tool, history);
    return missing === null
      ? []
      : [{ rule: 'I7' as const, message: `attempt ${attempt.number} was sent ${missing}`, story }];
  }),
);

function sent(story: Story): { readonly line: RequestLine; readonly attempt: LoggedAttempt }[] {
  return story.requests.flatMap((line) => {
    const attempt = story.log.attempts.find(({ attemptId }) => attemptId === line.attemptId);
    return attempt ? [{ line, attempt }] : [];
  });
}

/** Earlier attempts that nobody had proof of when this one was started. */
function doubtful({ before }: LoggedAttempt): LoggedAttempt['before'] {
  return before.filter(({ verdict }) => verdict !== 'not_executed' && verdict !== 'executed');
}

function besides(line: RequestLine, attempt: LoggedAttempt, story: Story): Finding[] {
  const { attempts } = story.log;
  const open = attempts.find((other) => other.number < attempt.number && isOpen(other, line.at));
  if (open) {
    const message = `a request of attempt ${attempt.number} while attempt ${open.number} was open`;
    return [{ rule: 'I6', message, story }];
  }
  // A request that was on its way for so long does no harm where the key is remembered, and none that was promised away
  // where the upstream breaks its declaration.
  if (story.beyondLimits || isRead(story) || keepsKey(story.tool)) return [];
  const next = attempts.find((other) => other.number > attempt.number && other.started.committedAt < line.at);
  if (!next) return [];
  const message = `a request of attempt ${attempt.number} when attempt ${next.number} had been started already`;
  return [{ rule: 'I6', message, story }];
}

function isOpen({ ended }: LoggedAttempt, at: number): boolean {
  return ended === null || ended.committedAt > at + clockMs;
}

/** Whoever sends looks at its lease just before. */
function afterLease({ number, attemptId, started }: LoggedAttempt, story: Story): Finding[] {
  const late = (story.sentAt.get(attemptId) ?? 0) - Number(started.data['leaseUntil']);
  if (!(late > clockMs)) return [];
  return [{ rule: 'I6', message: `attempt ${number} was sent ${duration(late)} after its lease had ended`, story }];
}

function unsettled(line: RequestLine, attempt: LoggedAttempt, story: Story): Finding[] {
  const { tool } = story;
  if (!tool || isRead(story) || keyIsKnown(line, story, tool)) return [];
  const settled = settledAt(attempt, tool);
  if (settled === null || line.at + clockMs >= settled) return [];
  const message = `a request of attempt ${attempt.number} ${duration(settled - line.at)} before an earlier one had settled (${duration(tool.settleMs)} after it became unknown)`;
  return [{ rule: 'I6', message, story }];
}

/** When the last of the doubtful attempts before it had had its time; null when there is none. */
function settledAt(attempt: LoggedAttempt, { settleMs }: ToolPromise): number | null {
  const times = doubtful(attempt).flatMap(({ unknownAt }) => (unknownAt === null ? [] : [unknownAt + settleMs]));
  return times.length === 0 ? null : Math.max(...times);
}

function keepsKey(tool: ToolPromise | null): boolean {
  return tool?.guarantee === 'idempotency_key' || tool?.guarantee === 'conditional_create';
}

/** Counted from the start of the first attempt: the upstream cannot have seen the key any earlier. */
function keyIsKnown(line: RequestLine, { log, sentAt }: Story, tool: ToolPromise): boolean {
  const first = log.attempts[0];
  const at = sentAt.get(line.attemptId ?? '') ?? line.at;
  return keepsKey(tool) && first !== undefined && at <= first.started.recordedAt + tool.retentionMs;
}

/** What a resend that rests on absences lacks, or null. The absences are the upstream's own: what it was asked, and said. */
function missingGrounds(
  line: RequestLine,
  attempt: LoggedAttempt,
  story: Story,
  tool: ToolPromise,
  history: History,
): string | null {
  if (keepsKey(tool) && !isReplayed(line, story)) {
    return `after the upstream may have forgotten its key (${duration(tool.retentionMs)} after the first attempt)`;
  }
  if (tool.guarantee === 'none') return 'again, although nothing can show that a resend is safe (none)';
  if (!tool.authoritative) return 'again, and an absence in the lookup of its tool proves nothing';
  const settled = settledAt(attempt, tool) ?? 0;
  const absences = story.questions.filter(
    ({ kind, answer, at }) => kind === 'lookup' && answer === 'absent' && at + clockMs >= settled && at < line.at,
  );
  const [first, last] = [absences[0], absences.at(-1)];
  if (absences.length < 2 || !first || !last) {
    return `again after ${count(absences.length, 'absence')} told by the upstream since it had settled, two are needed`;
  }
  const apart = last.at - first.at;
  const least = tool.spacingMs - slackMs(first.at, last.at, history);
  return apart >= least
    ? null
    : `again after absences that were ${duration(apart)} apart, ${duration(tool.spacingMs)} are declared`;
}

/** An operator asked for it: then absences do, whatever became of the key. */
function isReplayed(line: RequestLine, { events }: Story): boolean {
  return events.some(({ type, committedAt }) => type === 'replay_requested' && committedAt < line.at);
}

/** Furthest that a decision may be dated from its true time, in ms; the product refuses to write any that is further. */
const decisionMs = 1_000;
/** How far it may be in a process that nobody disturbs, on a machine that is fully loaded, in ms. */
const undisturbedMs = 250;

/**
 * The distance of two absences is kept between the date of the first one and the second question, so it may fall short
 * by as much as that date is early: a process that is held up, or hears from PostgreSQL late, dates it early.
 */
function slackMs(from: number, to: number, { faults, meta }: History): number {
  // A clock that is off holds nobody up: decisions are dated by PostgreSQL.
  const disturbed = overlapping(faults, from - decisionMs, to, meta.frozenAt).some(
    ({ kind, target }) => kind !== 'clock' && (target.startsWith('reconciler') || target.startsWith('postgres')),
  );
  return disturbed ? decisionMs : undisturbedMs;
}
