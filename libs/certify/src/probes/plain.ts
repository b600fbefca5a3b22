import type { Effect, Look, Sent } from '../effect.js';
import { describe, isThere } from '../effect.js';
import type { Finding } from '../finding.js';
import type { Subject } from '../subject.js';

/** What a call without any fault shows; `finding` says whether there is something to go on with. */
export interface Plain {
  readonly effect: Effect;
  readonly sent: Sent;
  readonly finding: Finding;
  /** Times at which the lookup was asked, in ms after the answer; null without a lookup or without an answer. */
  readonly seen: {
    /** Latest question after the answer that was told "absent"; null when none was. */
    readonly lastAbsentMs: number | null;
    /** First question that was told "present"; null when none was. */
    readonly firstPresentMs: number | null;
    /** It was there, and then it was not. */
    readonly vanished: boolean;
  } | null;
}

/** How long it is looked at again after it was there, in ms: replicas take turns. */
const watchMs = 250;

/** One call as every day: it has a receipt, and the lookup finds the same. */
export async function plain(subject: Subject): Promise<Plain> {
  const effect = subject.newEffect();
  const sent = await effect.send();
  const { verdict, endedAt } = sent;
  const evidence = [effect.story];
  const executed = verdict.kind === 'executed';
  // Accepted without a poll rule, or answered in a way that the file does not understand: the lookup may know.
  if ((!executed && verdict.kind !== 'accepted') || (!executed && subject.tool.terms.lookup === 'none')) {
    const says = `A plain call was not answered with a receipt: ${describe(verdict)}`;
    return { effect, sent, seen: null, finding: { probe: 'plain', result: 'failed', says, evidence } };
  }
  if (subject.tool.terms.lookup === 'none') {
    const says = `The answer has a receipt, ${effect.identities[0]}; there is no lookup.`;
    return { effect, sent, seen: null, finding: { probe: 'plain', result: 'passed', says, evidence } };
  }
  const seen = await watch(subject, effect, endedAt);
  const { count, why } = effect.howMany();
  const there = seen.firstPresentMs !== null;
  const part = effect.lastLook?.answer.kind === 'partial' ? effect.lastLook.answer.detail : null;
  const right = there && count !== 'more' && part === null;
  const after = there ? ` ${Math.round(seen.firstPresentMs ?? 0)} ms after the answer` : '';
  const says = right
    ? `The lookup finds the effect${after}, with the receipt ${effect.identities[0]}.`
    : there
      ? `One call, and the lookup does not fit its answer: ${part ?? why}`
      : `The lookup did not find the effect for ${subject.patienceMs} ms after its receipt ${effect.identities[0]}; it says: ${effect.lastLook ? describe(effect.lastLook.answer) : 'nothing'}.`;
  const result = right ? 'passed' : 'failed';
  return {
    effect,
    sent,
    seen,
    finding: { probe: 'plain', result, says, evidence, lookup: right || part !== null ? 'right' : 'wrong' },
  };
}

async function watch(subject: Subject, effect: Effect, answeredAt: number): Promise<NonNullable<Plain['seen']>> {
  let lastAbsentMs: number | null = null;
  let firstPresentMs: number | null = null;
  let vanished = false;
  const note = (look: Look) => {
    const ms = look.askedAt - answeredAt;
    if (isThere(look)) firstPresentMs ??= ms;
    else if (look.answer.kind === 'absent') {
      lastAbsentMs = ms;
      vanished ||= firstPresentMs !== null;
    }
    return firstPresentMs !== null && look.askedAt - answeredAt > firstPresentMs + watchMs;
  };
  const first = (look: Look) => {
    note(look);
    return isThere(look);
  };
  const found = await effect.lookUntil(first, answeredAt + subject.patienceMs);
  if (isThere(found)) await effect.lookUntil(note, performance.now() + watchMs + 1);
  return { lastAbsentMs, firstPresentMs, vanished };
}
