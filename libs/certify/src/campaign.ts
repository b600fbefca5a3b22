import { type Finding, probes } from './finding.js';
import { hiddenResender, lastLook } from './probes/afterwards.js';
import { killed, kills } from './probes/killed.js';
import { type LateCommit, lateCommit } from './probes/late-commit.js';
import { neverUsed, receipts, staleLookup } from './probes/lookup.js';
import { type Plain, plain } from './probes/plain.js';
import { duplicate, duplicateAtOnce, forgottenKey, lostReply } from './probes/repeats.js';
import { replaced, replacedStatuses } from './probes/replaced.js';
import type { Subject } from './subject.js';

/** What a campaign found and measured. */
export interface CampaignResult {
  readonly findings: readonly Finding[];
  /** Longest times seen, in ms; null where there was nothing to see. */
  readonly measured: { readonly lagMs: number | null; readonly processingMs: number | null };
}

/** Runs all probes, `rounds` times. Without a plain call that works there is nothing to learn from the others. */
export async function campaign(subject: Subject, rounds: number): Promise<CampaignResult> {
  const findings: Finding[] = [];
  const plains: Plain[] = [];
  const late: LateCommit[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // Times are measured while nothing else goes on.
    const pair = [await plain(subject), await plain(subject)];
    plains.push(...pair);
    findings.push(...pair.map(({ finding }) => finding));
    const works = pair.every(({ effect }) => effect.identities.length > 0);
    findings.push(receipts(subject, plains));
    if (!works) break;
    late.push(await lateCommit(subject));
    findings.push(await neverUsed(subject), ...(await faults(subject)));
  }
  // What was there at the first question was never seen to lag.
  const lagMs = longest(plains.map(({ seen }) => seen && (seen.lastAbsentMs === null ? 0 : seen.firstPresentMs)));
  const visibleMs = longest(late.map((each) => each.visibleMs));
  findings.push(staleLookup(subject, plains), ...late.map(({ finding }) => finding));
  findings.push(hiddenResender(subject), await lastLook(subject));
  return {
    findings: [...findings, ...untried(findings)],
    // What is seen late may be done late or shown late; as far as it is shown late always, that is the lag.
    measured: { lagMs, processingMs: visibleMs === null ? null : Math.max(visibleMs - (lagMs ?? 0), 0) },
  };
}

function untried(findings: readonly Finding[]): Finding[] {
  const says = 'Not tried, since a plain call does not work.';
  const tried = new Set(findings.map(({ probe }) => probe));
  return probes
    .filter((probe) => !tried.has(probe))
    .map((probe) => ({ probe, result: 'not_testable', says, evidence: [] }));
}

/** Each with keys of its own, so they may run at once. */
function faults(subject: Subject): Promise<Finding[]> {
  return Promise.all([
    duplicate(subject),
    duplicateAtOnce(subject),
    lostReply(subject),
    forgottenKey(subject),
    ...kills.map((kill) => killed(subject, kill)),
    ...replacedStatuses.map((status) => replaced(subject, status)),
  ]);
}

function longest(times: readonly (number | null)[]): number | null {
  const known = times.filter((each) => each !== null);
  return known.length === 0 ? null : Math.max(...known);
}
