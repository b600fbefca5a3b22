import type { Effect } from '../effect.js';
import type { Finding, ProbeName } from '../finding.js';
import type { Subject } from '../subject.js';
import { repeated } from './repeated.js';

/**
 * Goes on as the reconciler does when an outcome is unknown: look after the settle time, send again where that is
 * allowed, and in the end there is one effect.
 *
 * @param certain what is known about the effect from elsewhere: the upstream answered, or never got the whole request.
 */
export async function afterUnknown(
  subject: Subject,
  probe: ProbeName,
  effect: Effect,
  what: string,
  certain: 'there' | 'not_there' | null,
): Promise<Finding> {
  const evidence = [effect.story];
  const { claimsKey, claimsLookup, tool } = subject;
  if (tool.terms.lookup === 'none') {
    if (claimsKey) return again(subject, probe, effect, what);
    const says = `${what}: nobody can be asked and nothing may be sent again; a person decides.`;
    return { probe, result: 'not_testable', says, evidence };
  }
  const { kind } = await effect.settled();
  const wrong =
    certain === 'there' && kind === 'absent'
      ? 'the upstream had answered, and after the settle time the lookup says absent twice. A resend would double the effect.'
      : certain === 'not_there' && kind === 'present'
        ? 'the request never was complete, and the lookup says present.'
        : null;
  if (wrong !== null) {
    return {
      probe,
      result: claimsLookup ? 'failed' : 'observed',
      says: `${what}: ${wrong}`,
      evidence,
      lookup: 'wrong',
    };
  }
  const said = `${what}, and the lookup says ${kind.replace('_', ' ')}`;
  if (claimsKey) return again(subject, probe, effect, said);
  // Without a key only a proven absence permits a resend.
  if (kind !== 'absent' || !claimsLookup) {
    const result = kind === 'present' ? 'passed' : 'observed';
    return { probe, result, says: `${said}: nothing is sent again.`, evidence };
  }
  const finding = await again(subject, probe, effect, said);
  const { repeats, ...rest } = finding;
  // One effect is what the lookup promises; it says nothing about keys.
  if (repeats === 'one') return { ...rest, result: 'passed' };
  return { ...rest, result: repeats === 'more' ? 'failed' : finding.result };
}

async function again(subject: Subject, probe: ProbeName, effect: Effect, what: string): Promise<Finding> {
  await effect.send();
  return repeated(subject, probe, effect, `${what}; sent again`);
}
