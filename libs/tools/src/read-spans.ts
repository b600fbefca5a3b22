import { clockToleranceMs, defaultApproval } from '@intendant/contracts';
import type { Effect, Guarantee, LookupAuthority } from '@intendant/intent';
import { readApply } from './read-preview.js';
import type { Path, ToolSource } from './tool-source.js';
import type { Basis, Span, Spans } from './windows.js';

/** Time for starting, classifying and recording an attempt beside the request itself. */
const leaseMarginMs = 2000 + clockToleranceMs;
/** Generous where nobody thought about it; a file that writes `settle` may go down to the least margin. */
const settleMarginMs = 1000;

/** Every duration of a file that was checked, with how it is known. */
export function readSpans(source: ToolSource): Spans {
  const connect = span(source, ['limits', 'connect'], '2s');
  const call = span(source, ['limits', 'call'], '10s');
  const maxProcessing = span(source, ['upstream', 'maxProcessing'], '10s');
  const lag = span(source, ['upstream', 'lookup', 'lag'], '0s');
  const retention = ['upstream', 'keyRetention'];
  return {
    effect: source.text('effect') as Effect,
    guarantee: reliedGuarantee(source),
    authority: authorityOf(source),
    attempts: wholeNumber(source, ['retry', 'attempts'], 3),
    connect,
    call,
    notice: optional(source, ['limits', 'notice']),
    lease: { ms: (connect.ms + call.ms) * requests(source) + leaseMarginMs, basis: 'computed' },
    settle: optional(source, ['upstream', 'settle']) ?? {
      ms: maxProcessing.ms + lag.ms + settleMarginMs,
      basis: 'computed',
    },
    maxProcessing,
    lag,
    spacing: span(source, ['upstream', 'lookup', 'spacing'], '2s'),
    keyRetention: optional(source, retention),
    deadline: span(source, ['upstream', 'lookup', 'deadline'], 'PT10M'),
    poll: source.object('upstream', 'poll') && {
      interval: span(source, ['upstream', 'poll', 'interval'], '2s'),
      deadline: span(source, ['upstream', 'poll', 'deadline'], 'PT1H'),
    },
    approvalTtl: source.object('approval') && approvalTtl(source),
  };
}

/** How many an attempt makes, one after the other: a preview that is read again takes as long as the call may. */
function requests(source: ToolSource): 1 | 2 {
  return readApply(source)?.kind === 'reread' ? 2 : 1;
}

/**
 * The guarantee that decisions may build on. A key that somebody only assumes to be remembered is none: what is left
 * is the lookup, if its absence proves anything.
 */
export function reliedGuarantee(source: ToolSource): Guarantee {
  const declared = (source.text('upstream', 'guarantee') ?? 'none') as Guarantee;
  if (declared !== 'idempotency_key' || basisOf(source, ['upstream', 'keyRetention']) !== 'assumed') return declared;
  return authorityOf(source) === 'authoritative' ? 'lookup' : 'none';
}

export function wholeNumber(source: ToolSource, path: Path, fallback: number): number {
  const value = source.value(...path);
  return typeof value === 'number' ? value : fallback;
}

function authorityOf(source: ToolSource): LookupAuthority {
  if (source.object('upstream', 'lookup') === null) return 'none';
  return source.value('upstream', 'lookup', 'authoritative') === true ? 'authoritative' : 'presence_only';
}

function approvalTtl(source: ToolSource): Span {
  return optional(source, ['approval', 'ttl']) ?? { ms: defaultApproval.ttlMs, basis: 'default' };
}

function optional(source: ToolSource, path: Path): Span | null {
  return source.value(...path) === undefined ? null : span(source, path, '0s');
}

function span(source: ToolSource, path: Path, fallback: string): Span {
  return { ms: source.duration(path, fallback), basis: basisOf(source, path) };
}

/** Durations that describe the upstream; alone they count as documented. All others we choose ourselves. */
const declared = new Set(['keyRetention', 'maxProcessing', 'lag']);

function basisOf(source: ToolSource, path: Path): Basis {
  if (source.value(...path) === undefined) return 'default';
  if (!declared.has(path.at(-1) ?? '')) return 'chosen';
  return (source.text(...path, 'basis') ?? 'documented') as Basis;
}
