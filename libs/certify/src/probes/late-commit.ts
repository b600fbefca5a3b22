import { durationText } from '../duration-text.js';
import { isThere, type Look } from '../effect.js';
import type { Finding } from '../finding.js';
import type { Subject } from '../subject.js';

export interface LateCommit {
  readonly finding: Finding;
  /** From the last byte of the request to the first question that was told "present", in ms; null where none was. */
  readonly visibleMs: number | null;
}

/** The connection is cut once the request has passed: how long afterwards does its effect appear? */
export async function lateCommit(subject: Subject): Promise<LateCommit> {
  const probe = 'late_commit';
  const { tool, promises, proxy } = subject;
  if (proxy === null || tool.terms.lookup === 'none') {
    const says = proxy === null ? notHttp : 'The tool file has no lookup.';
    return { visibleMs: null, finding: { probe, result: 'not_testable', says, evidence: [] } };
  }
  const effect = subject.newEffect();
  const { struck } = await effect.send({ kind: 'cut_before_answer' });
  const evidence = [effect.story];
  if (struck === null) {
    const says = 'The request did not reach the upstream.';
    return { visibleMs: null, finding: { probe, result: 'not_testable', says, evidence } };
  }
  let lastAbsentMs = 0;
  const note = (look: Look) => {
    if (look.answer.kind === 'absent') lastAbsentMs = look.askedAt - struck.at;
    return isThere(look);
  };
  const limitMs = promises.maxProcessing.ms + (promises.lag?.ms ?? 0);
  const look = await effect.lookUntil(
    note,
    struck.at + Math.max(limitMs, tool.terms.settleMs) + subject.options.holdMs,
  );
  if (!isThere(look)) {
    const says =
      'A request whose client goes away before the answer has no effect, ' +
      `as far as ${Math.round(look.askedAt - struck.at)} ms show; the last look will tell.`;
    return { visibleMs: null, finding: { probe, result: 'observed', says, evidence } };
  }
  const visibleMs = look.askedAt - struck.at;
  const declared = `declared: processing ${durationText(promises.maxProcessing.ms)} + lag ${durationText(promises.lag?.ms ?? 0)}`;
  if (lastAbsentMs <= limitMs) {
    const says = `The effect was visible ${Math.round(visibleMs)} ms after the request (${declared}).`;
    return { visibleMs, finding: { probe, result: 'passed', says, evidence } };
  }
  const says =
    `The effect was still absent ${Math.round(lastAbsentMs)} ms after the request and came later (${declared}). ` +
    'A resend in between would double it.';
  return { visibleMs, finding: { probe, result: subject.claimsLookup ? 'failed' : 'observed', says, evidence } };
}

export const notHttp = 'There is no HTTP between us and the upstream, so no place for this fault.';
