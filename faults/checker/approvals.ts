import { type Finding, perStory } from './finding.js';
import type { Agreed, LoggedRequest } from './requests.js';
import type { Story } from './story.js';
import { count, duration } from './wording.js';

/**
 * I15: what people are asked about is sent only when as many different ones as it needs have agreed to what is asked, and
 * before its time is over. What they said no to, took back or left alone has no effect.
 */
export const sentAsAgreed = perStory((story) => {
  if (story.log.agreed === null) return [];
  const wrong = wrongAnswer(story) ?? wrongAttempt(story) ?? effectWithout(story);
  return wrong === null ? [] : [{ rule: 'I15', message: wrong, story } satisfies Finding];
});

/** Somebody agreed who may not, to something else, or too late. */
function wrongAnswer({ log, events }: Story): string | null {
  const user = (events[0]?.data['proposal'] as { readonly user?: unknown } | undefined)?.user;
  for (const { by, digest, at, newest, completes } of log.answers) {
    if (digest !== newest.digest) return `${by} agreed to ${digest}, and ${newest.digest} was asked`;
    if (at >= newest.expiresAt && !completes)
      return `${by} agreed ${duration(at - newest.expiresAt)} after the time for it was over`;
    if (!newest.selfApproval && isSame(by, user)) return `${by} agreed to what was asked for in that name`;
  }
  return null;
}

function wrongAttempt({ log }: Story): string | null {
  for (const { number, started, before, agreed } of log.attempts) {
    if (agreed === null) return `attempt ${number} was started before anybody was asked`;
    if (agreed.refusedBy !== null) return `attempt ${number} was started after ${agreed.refusedBy} had refused it`;
    const missing = agreed.requests.some((request) => hasAgreed(request, agreed)) ? null : mostAgreed(agreed);
    if (missing !== null) return `attempt ${number} was started with ${missing}`;
    // What may have run already is completed, whatever the time.
    const open = before.some(({ verdict }) => verdict !== 'not_executed' && verdict !== 'executed');
    const late = started.recordedAt - (agreed.requests.at(-1)?.expiresAt ?? Number.POSITIVE_INFINITY);
    if (!open && late >= 0) return `attempt ${number} was started ${duration(late)} after its approval had expired`;
  }
  return null;
}

/** Whatever the attempts say. */
function effectWithout({ log, effects }: Story): string | null {
  if (effects.length === 0 || log.attempts.length > 0) return null;
  return `${count(effects.length, 'effect')}, and nobody was sent for it: ${log.state} for ${log.reason}`;
}

/** As many different people as the request needs have agreed to it. */
export function hasAgreed(request: LoggedRequest, { given }: Agreed): boolean {
  return peopleFor(request, given) >= request.quorum;
}

function mostAgreed({ requests, given }: Agreed): string {
  const newest = requests.at(-1) as LoggedRequest;
  return `${count(peopleFor(newest, given), 'approval')} of ${newest.quorum}`;
}

function peopleFor({ digest }: LoggedRequest, given: Agreed['given']): number {
  return new Set(given.filter((each) => each.digest === digest).map(({ by }) => plain(by))).size;
}

function isSame(one: unknown, other: unknown): boolean {
  return typeof one === 'string' && typeof other === 'string' && plain(one) === plain(other);
}

/** As people read it. */
function plain(name: string): string {
  return name.normalize('NFKC').trim().toLowerCase();
}
