import { setTimeout as delay } from 'node:timers/promises';
import { durationText } from '../duration-text.js';
import type { Effect } from '../effect.js';
import type { Finding } from '../finding.js';
import type { Subject } from '../subject.js';
import { afterUnknown } from './after-unknown.js';
import { repeated } from './repeated.js';

/** Share of a short declared retention after which the key comes back: it must still be known. */
const retentionShare = 0.8;
const busyPauseMs = 200;

/** The same key twice, one after the other. */
export async function duplicate(subject: Subject): Promise<Finding> {
  const effect = subject.newEffect();
  await effect.send();
  await effect.send();
  await untilTold(subject, effect);
  return repeated(subject, 'duplicate', effect, 'The same key twice');
}

/** The same key twice at once. */
export async function duplicateAtOnce(subject: Subject): Promise<Finding> {
  const effect = subject.newEffect();
  await Promise.all([effect.send(), effect.send()]);
  await untilTold(subject, effect);
  return repeated(subject, 'duplicate_at_once', effect, 'The same key twice at once');
}

/** The upstream answers, the answer is lost, and the key comes again. */
export async function lostReply(subject: Subject): Promise<Finding> {
  const probe = 'lost_reply';
  const effect = subject.newEffect();
  const { verdict, struck } = await effect.send({ kind: 'cut_answer' });
  const evidence = [effect.story];
  if (subject.proxy !== null && struck === null) {
    return { probe, result: 'not_testable', says: 'No answer came that could be lost.', evidence };
  }
  if (verdict.kind === 'not_executed') {
    const says = `A lost answer is taken for proof that nothing happened: ${verdict.cause}`;
    return { probe, result: 'failed', says, evidence };
  }
  const done = struck?.status != null && struck.status >= 200 && struck.status < 300;
  return afterUnknown(subject, probe, effect, 'The answer was lost', done ? 'there' : null);
}

/**
 * A repeat that is told "in progress" comes back until it is told more. Where a repeat is a second effect there is
 * nothing to wait for, and no need for a third one.
 */
async function untilTold(subject: Subject, effect: Effect): Promise<void> {
  const until = performance.now() + subject.patienceMs;
  while (subject.claimsKey && effect.sent.at(-1)?.verdict.kind === 'unknown' && performance.now() < until) {
    await delay(busyPauseMs);
    await effect.send();
  }
}

/** The key comes back after a while. */
export async function forgottenKey(subject: Subject): Promise<Finding> {
  const probe = 'forgotten_key';
  const { promises, options, claimsKey } = subject;
  if (!claimsKey) {
    const says = `Nothing is declared about how long a key is kept (${promises.guarantee}).`;
    return { probe, result: 'not_testable', says, evidence: [] };
  }
  const declaredMs = promises.keyRetention?.ms ?? Number.POSITIVE_INFINITY;
  const holdMs = Math.round(Math.min(options.holdMs, declaredMs * retentionShare));
  const effect = subject.newEffect();
  await effect.send();
  await delay(holdMs);
  await effect.send();
  const finding = await repeated(subject, probe, effect, `The key came back after ${durationText(holdMs)}`);
  const declared = promises.keyRetention ? `declared ${durationText(declaredMs)}` : 'declared for ever';
  const kept =
    finding.repeats === 'one'
      ? ` It is kept for at least ${durationText(holdMs)}; ${declared}, not tested further.`
      : '';
  return { ...finding, says: finding.says + kept };
}
