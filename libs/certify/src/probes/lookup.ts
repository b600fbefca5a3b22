import { durationText } from '../duration-text.js';
import { describe, type Effect } from '../effect.js';
import type { Finding } from '../finding.js';
import type { Subject } from '../subject.js';
import type { Plain } from './plain.js';

const noLookup = 'The tool file has no lookup.';

/** Two effects must not have one receipt, and a lookup must not show one for another. */
export function receipts(subject: Subject, plains: readonly Plain[]): Finding {
  const owners = new Map<string, string>();
  const evidence = plains.map(({ effect }) => effect.story);
  for (const { effect } of plains) {
    for (const identity of effect.identities) {
      const other = owners.get(identity);
      if (other !== undefined && other !== effect.key) {
        subject.receiptsTell = false;
        const says =
          `Two effects have one receipt, ${identity}: it proves nothing. ` +
          'Require a field in the output schema that differs for each effect.';
        return { probe: 'receipts', result: 'failed', says, evidence };
      }
      owners.set(identity, effect.key);
    }
  }
  if (owners.size < 2) {
    return { probe: 'receipts', result: 'not_testable', says: 'There are not two receipts to compare.', evidence };
  }
  if (!plains.every(({ effect }) => hasOwnValue(effect, plains))) {
    subject.receiptsTell = false;
    const says =
      'Receipts only repeat what their requests say: a second effect of the same request might have the same one. ' +
      'Whether a repeat is one effect only a "count" in the lookup can tell.';
    return { probe: 'receipts', result: 'observed', says, evidence };
  }
  return { probe: 'receipts', result: 'passed', says: `${owners.size} effects, ${owners.size} receipts.`, evidence };
}

/** It has something in its receipt that is neither from its request nor the same for all. */
function hasOwnValue(effect: Effect, plains: readonly Plain[]): boolean {
  const others = plains.filter((each) => each.effect !== effect);
  return [...effect.ownValues].some((value) => others.every((other) => !other.effect.ownValues.has(value)));
}

/** A key that was never used must be absent. */
export async function neverUsed(subject: Subject): Promise<Finding> {
  const probe = 'never_used';
  if (subject.tool.terms.lookup === 'none') return { probe, result: 'not_testable', says: noLookup, evidence: [] };
  const effect = subject.newEffect();
  const { answer } = await effect.look();
  const evidence = [effect.story];
  if (answer.kind === 'absent') {
    return {
      probe,
      result: 'passed',
      says: 'The lookup says absent for a key that was never used.',
      evidence,
      lookup: 'right',
    };
  }
  const says = `The lookup of a key that was never used does not say absent: ${describe(answer)}`;
  const found = answer.kind !== 'cannot_tell';
  const result = found || subject.claimsLookup ? 'failed' : 'observed';
  return { probe, result, says, evidence, lookup: 'wrong' };
}

/** After an answer there must be no moment, beyond the declared lag, at which the lookup says absent. */
export function staleLookup(subject: Subject, plains: readonly Plain[]): Finding {
  const probe = 'stale_lookup';
  const watched = plains.flatMap(({ seen, effect }) => (seen?.firstPresentMs == null ? [] : [{ seen, effect }]));
  if (watched.length === 0) {
    const says = subject.tool.terms.lookup === 'none' ? noLookup : 'The lookup never found an effect.';
    return { probe, result: 'not_testable', says, evidence: [] };
  }
  const evidence = watched.map(({ effect }) => effect.story);
  const gone = watched.find(({ seen }) => seen.vanished);
  const absentMs = Math.max(...watched.map(({ seen }) => Math.round(seen.lastAbsentMs ?? 0)));
  const lagMs = subject.promises.lag?.ms ?? 0;
  const late = absentMs > lagMs;
  if (!late && !gone) {
    const shown = Math.max(...watched.map(({ seen }) => Math.round(seen.firstPresentMs ?? 0)));
    const says = `Visible at the latest ${shown} ms after the answer; declared lag ${durationText(lagMs)}.`;
    return { probe, result: 'passed', says, evidence, lookup: 'right' };
  }
  const consequence = subject.claimsLookup ? ' A resend on such an absence would double the effect.' : '';
  const says = gone
    ? `The lookup found the effect and then said absent, ${absentMs} ms after the answer.${consequence}`
    : `The lookup still said absent ${absentMs} ms after the answer; declared lag ${durationText(lagMs)}.${consequence}`;
  const result = subject.claimsLookup ? 'failed' : 'observed';
  return { probe, result, says, evidence, ...(gone && { lookup: 'wrong' as const }) };
}
