import { setTimeout as delay } from 'node:timers/promises';
import { isThere } from '../effect.js';
import type { Finding } from '../finding.js';
import type { Subject } from '../subject.js';
import { notHttp } from './late-commit.js';

/** One wire request per attempt id, over everything that was sent. */
export function hiddenResender(subject: Subject): Finding {
  const probe = 'hidden_resender';
  if (subject.proxy === null) return { probe, result: 'not_testable', says: notHttp, evidence: [] };
  const times = new Map<string, number>();
  for (const { attemptId } of subject.proxy.all()) times.set(attemptId, (times.get(attemptId) ?? 0) + 1);
  const twice = [...times].filter(([, count]) => count > 1);
  const owners = subject.effects.filter(({ sent }) => sent.some(({ attemptId }) => (times.get(attemptId) ?? 0) > 1));
  if (twice.length === 0) {
    const says = `${times.size} attempts, ${times.size} wire requests.`;
    return { probe, result: 'passed', says, evidence: [] };
  }
  const list = twice.map(([attemptId, count]) => `${attemptId} ${count} times`).join(', ');
  const says = `Something on our side of the wire sends again on its own: ${list}.`;
  return { probe, result: 'failed', says, evidence: owners.map(({ story }) => story) };
}

/** Everything is looked at once more: what was absent must not be there by now, nor what was one be more. */
export async function lastLook(subject: Subject): Promise<Finding> {
  const probe = 'last_look';
  if (subject.tool.terms.lookup === 'none') {
    return { probe, result: 'not_testable', says: 'The tool file has no lookup.', evidence: [] };
  }
  const asked = subject.effects.filter(({ sent, lastLook }) => sent.length > 0 && lastLook !== null);
  // What was counted right after a repeat may have been counted too soon.
  const repeated = asked.filter(({ sent }) => sent.length > 1);
  await delay(Math.max(0, ...repeated.map(({ settledAt }) => settledAt - performance.now())));
  const changed = [];
  let repeats: Pick<Finding, 'repeats'> = {};
  for (const effect of asked) {
    const { settledAbsent } = effect;
    const before = effect.howMany().count;
    const look = await effect.look();
    const doubled = before !== 'more' && effect.howMany().count === 'more';
    if (doubled && repeated.includes(effect)) repeats = { repeats: 'more' };
    if ((settledAbsent && isThere(look)) || doubled) changed.push(effect);
  }
  if (changed.length === 0) {
    const says = `Nothing came later: ${asked.length} effects are as they were.`;
    return { probe, result: 'passed', says, evidence: [] };
  }
  const says = `${changed.length} of ${asked.length} effects came, or doubled, after the settle time had passed.`;
  const result = subject.claimsKey || subject.claimsLookup ? 'failed' : 'observed';
  return { probe, result, says, evidence: changed.map(({ story }) => story), ...repeats };
}
