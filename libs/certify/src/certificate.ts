import type { Guarantee } from '@intendant/intent';
import type { Promises } from '@intendant/tools';
import type { CampaignResult } from './campaign.js';
import { type Finding, probes } from './finding.js';

/** What the upstream really keeps, beside what its file declares. */
export interface Certificate {
  readonly declared: Promises;
  /** The strongest guarantee that the evidence supports. */
  readonly supported: Guarantee;
  /** Nothing was found that breaks the declaration. */
  readonly holds: boolean;
  readonly measured: CampaignResult['measured'];
  /** One per probe: of several rounds the worst. */
  readonly findings: readonly Finding[];
}

/** From worst to best: what counts of several rounds. */
const order: readonly Finding['result'][] = ['failed', 'not_testable', 'observed', 'passed'];

/** Judges what a campaign found. `authoritative`: the file says that an absence proves something. */
export function certify(declared: Promises, authoritative: boolean, found: CampaignResult): Certificate {
  const { findings, measured } = found;
  return {
    declared,
    supported: supported(declared, authoritative, findings),
    holds: findings.every(({ result }) => result !== 'failed'),
    measured,
    findings: probes.flatMap((probe) => worst(findings.filter((each) => each.probe === probe))),
  };
}

function supported(declared: Promises, authoritative: boolean, findings: readonly Finding[]): Guarantee {
  const repeats = findings.flatMap((each) => each.repeats ?? []);
  const told = (probe: Finding['probe']) => findings.some((each) => each.probe === probe && each.repeats === 'one');
  // One repeat that went well proves little; each way in which a key comes again has to.
  if (!repeats.includes('more') && told('duplicate') && told('duplicate_at_once')) {
    return declared.guarantee === 'conditional_create' ? 'conditional_create' : 'idempotency_key';
  }
  const lookups = findings.flatMap((each) => each.lookup ?? []);
  const useless = findings.some(({ probe, result }) => probe === 'receipts' && result === 'failed');
  if (authoritative && !useless && lookups.includes('right') && !lookups.includes('wrong')) return 'lookup';
  return 'none';
}

function worst(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => order.indexOf(a.result) - order.indexOf(b.result)).slice(0, 1);
}
