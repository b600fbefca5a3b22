import { describe } from '../effect.js';
import type { Finding, ProbeName } from '../finding.js';
import type { Boundary } from '../kill-at.js';
import type { Subject } from '../subject.js';
import { afterUnknown } from './after-unknown.js';
import { notHttp } from './late-commit.js';

interface Kill {
  readonly probe: ProbeName;
  readonly boundary: Boundary;
  /** What is certain about the effect by then. */
  readonly certain: 'there' | 'not_there' | null;
}

export const kills: readonly Kill[] = [
  { probe: 'killed_before_first_byte', boundary: 'before the first byte', certain: 'not_there' },
  { probe: 'killed_after_headers', boundary: 'after the headers', certain: 'not_there' },
  { probe: 'killed_after_request', boundary: 'after the full request', certain: null },
  { probe: 'killed_after_reply', boundary: 'after the reply arrived', certain: 'there' },
];

/** The process that makes the call is killed at one boundary. */
export async function killed(subject: Subject, { probe, boundary, certain }: Kill): Promise<Finding> {
  if (subject.proxy === null && boundary === 'after the headers') {
    return { probe, result: 'not_testable', says: notHttp, evidence: [] };
  }
  const effect = subject.newEffect();
  const { struck, verdict } = await effect.sendAndKill(boundary);
  const evidence = [effect.story];
  if (struck === null) {
    const says = `The call was over before that: ${describe(verdict)}`;
    return { probe, result: 'not_testable', says, evidence };
  }
  // A reply that arrived says more than that there was one.
  const known = certain === 'there' && verdict.kind !== 'executed' ? null : certain;
  return afterUnknown(subject, probe, effect, `Killed ${boundary}`, known);
}
