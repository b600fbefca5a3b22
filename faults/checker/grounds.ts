import type { History, ToolPromise } from '../history/history.js';
import { type Finding, perStory } from './finding.js';
import type { Story } from './story.js';
import { overlapping } from './timeline.js';
import { count, duration } from './wording.js';

/** How much later than it was decided an end may be recorded, in ms. */
const recordingMs = 2_000;

/**
 * I3: whoever gives up has the reason that it gives. Without this, a product that asks a person about everything would
 * keep every other promise.
 */
export const endsHaveGrounds = perStory((story, history) => {
  const missing = whatIsMissing(story, history);
  if (missing === null) return [];
  return [
    { rule: 'I3', message: `${story.log.state} for ${story.log.reason}, and ${missing}`, story } satisfies Finding,
  ];
});

function whatIsMissing(story: Story, history: History): string | null {
  const { state, reason } = story.log;
  if (state === 'failed' && reason === 'upstream_rejected') {
    return story.requests.length === 0 ? 'nothing was ever on the wire' : null;
  }
  if (state === 'denied' && reason === 'approval_refused') {
    return story.log.agreed?.refusedBy == null ? 'nobody has refused it' : null;
  }
  if (state === 'denied' && reason === 'approval_expired') {
    const left = (story.log.agreed?.requests.at(-1)?.expiresAt ?? 0) - (story.log.entered?.recordedAt ?? 0);
    return left > 0 ? `there were ${duration(left)} left` : null;
  }
  if (state === 'cancelled' || (state === 'failed' && reason === 'cancelled')) {
    const asked = story.clients.some(({ operation }) => operation === 'cancel');
    return asked ? null : 'nobody asked for that';
  }
  if (state === 'failed' && reason === 'resolved_not_executed') {
    return story.events.some(({ type }) => type === 'resolved') ? null : 'no person said so';
  }
  return state === 'dead_lettered' && story.tool ? missingForPerson(story, story.tool, history) : null;
}

function missingForPerson(story: Story, tool: ToolPromise, history: History): string | null {
  const { attempts, reason } = story.log;
  switch (reason) {
    case 'adapter_missing':
      return story.requests.length > 0 ? 'it was sent' : null;
    case 'no_way_to_tell':
    case 'absence_not_provable':
      return tool.authoritative ? 'the lookup of its tool can tell' : null;
    case 'attempts_exhausted':
      return attempts.length < tool.maxAttempts
        ? `there was ${count(attempts.length, 'attempt')} of ${tool.maxAttempts}`
        : null;
    case 'poll_deadline':
      return story.events.some(({ type }) => type === 'accepted') ? null : 'its upstream never took it on';
    case 'key_retention_passed':
      return keyIsStillKnown(story, tool);
    case 'lookup_deadline':
      return lookupsWorked(story, history);
    default:
      return null;
  }
}

/** Another attempt, with its lease and its settle time, would have been over in time. */
function keyIsStillKnown({ log }: Story, tool: ToolPromise): string | null {
  const [first] = log.attempts;
  if (!first || !log.entered) return 'nothing was ever sent';
  const spare =
    first.started.recordedAt + tool.retentionMs - log.entered.committedAt - tool.leaseMs - tool.settleMs - recordingMs;
  return spare > 0 ? `its key is known for ${duration(spare)} longer than an attempt takes` : null;
}

/** All questions were answered, and nobody was kept from asking. */
function lookupsWorked({ questions, log }: Story, { faults, meta }: History): string | null {
  if (questions.some(({ kind, answer }) => kind === 'lookup' && (answer === 'error' || answer === 'hang'))) return null;
  const since = Math.min(...log.attempts.map(({ started }) => started.committedAt));
  const until = log.entered?.committedAt ?? meta.frozenAt;
  const disturbed = overlapping(faults, since, until, meta.frozenAt).some(({ kind }) => kind !== 'clock');
  return disturbed ? null : 'its lookup was always answered';
}
