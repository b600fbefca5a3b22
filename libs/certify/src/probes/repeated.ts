import { describe, type Effect } from '../effect.js';
import type { Finding, ProbeName } from '../finding.js';
import type { Subject } from '../subject.js';

/** Judges a key under which more than one attempt was sent. */
export async function repeated(subject: Subject, probe: ProbeName, effect: Effect, what: string): Promise<Finding> {
  if (subject.tool.terms.lookup !== 'none') await effect.look();
  const { count, why } = effect.howMany();
  const evidence = [effect.story];
  const { claimsKey, promises } = subject;
  const away = effect.sent.map(({ verdict }) => verdict).find((each) => each.kind === 'not_executed' && each.transient);
  if (away && count !== 'more') {
    const says = `${what}: nothing was learned, since an attempt was turned away; ${describe(away)}.`;
    return { probe, result: 'not_testable', says, evidence };
  }
  switch (count) {
    case 'one':
      return {
        probe,
        result: claimsKey ? 'passed' : 'observed',
        says: `${what}: one effect; ${why}.`,
        evidence,
        repeats: 'one',
      };
    case 'more': {
      const result = claimsKey ? 'failed' : 'observed';
      return {
        probe,
        result,
        says: `${what}: more than one effect; ${why}.${claimsKey ? '' : ` As the file says: ${promises.guarantee}.`}`,
        evidence,
        repeats: 'more',
      };
    }
    case 'none':
    case 'unclear':
      return { probe, result: 'not_testable', says: `${what}: nobody can say how many effects; ${why}.`, evidence };
  }
}
