import type { Guarantee } from '@intendant/intent';
import type { Promises } from '@intendant/tools';
import type { CampaignResult } from './campaign.js';
import { type Finding, type ProbeName, probes } from './finding.js';

/** What the upstream really keeps, beside what its file declares. */
export interface Certificate {
  readonly declared: Promises;
  /** The strongest guarantee that the evidence supports. */
  readonly supported: Guarantee;
  /** `broken`: a probe failed. `not_shown`: none did, but what was seen is not enough for the declared guarantee. */
  readonly verdict: 'holds' | 'broken' | 'not_shown';
  /** The declaration is shown, and nothing was found that breaks it. */
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
  const key = showsKey(declared, findings);
  const lookup = authoritative && showsLookup(findings);
  const verdict = findings.some(({ result }) => result === 'failed')
    ? 'broken'
    : { none: true, lookup, idempotency_key: key, conditional_create: key }[declared.guarantee]
      ? 'holds'
      : 'not_shown';
  return {
    declared,
    supported: key ? keyGuarantee(declared) : lookup ? 'lookup' : 'none',
    verdict,
    holds: verdict === 'holds',
    measured,
    findings: probes.flatMap((probe) => worst(findings.filter((each) => each.probe === probe))),
  };
}

/**
 * One repeat that went well proves little: each way in which a key comes again has to, in every round. After a while it
 * only comes again where the file says that it is kept.
 */
function showsKey({ guarantee }: Promises, findings: readonly Finding[]): boolean {
  const claimed = guarantee === 'idempotency_key' || guarantee === 'conditional_create';
  const needed: ProbeName[] = ['duplicate', 'duplicate_at_once', ...(claimed ? (['forgotten_key'] as const) : [])];
  const one = needed.every((probe) => always(findings, probe, ({ repeats }) => repeats === 'one'));
  return one && findings.every(({ repeats }) => repeats !== 'more');
}

function keyGuarantee({ guarantee }: Promises): Guarantee {
  return guarantee === 'conditional_create' ? 'conditional_create' : 'idempotency_key';
}

/** A lookup has to find what is there and not find what is not, in every round. */
function showsLookup(findings: readonly Finding[]): boolean {
  const right = (['plain', 'never_used'] as const).every((probe) =>
    always(findings, probe, ({ lookup }) => lookup === 'right'),
  );
  const useless = findings.some(({ probe, result }) => probe === 'receipts' && result === 'failed');
  return right && !useless && findings.every(({ lookup }) => lookup !== 'wrong');
}

/** What was not tried shows nothing. */
function always(findings: readonly Finding[], probe: ProbeName, holds: (finding: Finding) => boolean): boolean {
  const all = findings.filter((each) => each.probe === probe);
  return all.length > 0 && all.every(holds);
}

function worst(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => order.indexOf(a.result) - order.indexOf(b.result)).slice(0, 1);
}
