import { describe, isThere } from '../effect.js';
import type { Finding, ProbeName } from '../finding.js';
import type { Subject } from '../subject.js';
import { notHttp } from './late-commit.js';

export const replacedStatuses = [500, 502, 503, 504] as const;

/** The upstream does it and answers; the client is told an error, as a proxy before the upstream might say. */
export async function replaced(subject: Subject, status: (typeof replacedStatuses)[number]): Promise<Finding> {
  const probe: ProbeName = `error_${status}`;
  if (subject.proxy === null) return { probe, result: 'not_testable', says: notHttp, evidence: [] };
  const effect = subject.newEffect();
  const { verdict, struck } = await effect.send({ kind: 'replace_answer', status });
  const evidence = [effect.story];
  if (struck?.status == null || struck.status >= 300) {
    const says = `The upstream itself answered ${struck?.status ?? 'nothing'}.`;
    return { probe, result: 'not_testable', says, evidence };
  }
  if (verdict.kind === 'unknown') {
    return { probe, result: 'passed', says: `A ${status} after the effect is unknown, and is looked into.`, evidence };
  }
  if (verdict.kind !== 'not_executed') {
    const says = `A ${status} is taken for ${describe(verdict)}`;
    return { probe, result: 'observed', says, evidence };
  }
  const { lookup } = subject.tool.terms;
  const look = lookup === 'none' ? null : await effect.lookUntil(isThere, performance.now() + subject.patienceMs);
  const found = look && isThere(look) ? `, and the lookup finds ${effect.identities[0]}` : '';
  const says =
    `The file takes a ${status} for proof that nothing happened (${verdict.cause}), ` +
    `but the upstream had answered ${struck.status}${found}. Take ${status} out of the map.`;
  return { probe, result: 'failed', says, evidence };
}
