import type { ToolDefinition } from '@intendant/contracts';
import type { Effect, Guarantee, LookupAuthority, Terms } from '@intendant/intent';
import { longestDurationMs } from './duration.js';
import type { ToolSource } from './tool-source.js';

/** Time for starting, classifying and recording an attempt beside the request itself. */
const leaseMarginMs = 3000;
/** Clocks and network between the upstream's last effect and our lookup. */
const settleMarginMs = 1000;

export function readLimits(source: ToolSource): ToolDefinition['limits'] {
  const notice = ['limits', 'notice'];
  return {
    connectMs: source.duration(['limits', 'connect'], '2s'),
    callMs: source.duration(['limits', 'call'], '10s'),
    noticeMs: source.text(...notice) === null ? null : source.duration(notice, '0s'),
    concurrency: wholeNumber(source, ['limits', 'concurrency'], 32),
  };
}

/** The terms an intent of this tool is judged by, from a file that was checked. */
export function readTerms(source: ToolSource): Terms {
  const { connectMs, callMs } = readLimits(source);
  const guarantee = (source.text('upstream', 'guarantee') ?? 'none') as Guarantee;
  return {
    effect: source.text('effect') as Effect,
    guarantee,
    lookup: authority(source),
    maxAttempts: wholeNumber(source, ['retry', 'attempts'], 3),
    leaseMs: connectMs + callMs + leaseMarginMs,
    settleMs: settleMs(source),
    spacingMs: source.duration(['upstream', 'lookup', 'spacing'], '2s'),
    retentionMs: retentionMs(source, guarantee),
    deadlineMs: source.duration(['upstream', 'lookup', 'deadline'], 'PT10M'),
    backoffMs: source.duration(['retry', 'backoff'], '500ms'),
    poll: poll(source),
    counts: source.text('upstream', 'lookup', 'count') !== null,
  };
}

function settleMs(source: ToolSource): number {
  if (source.text('upstream', 'settle') !== null) return source.duration(['upstream', 'settle'], '0s');
  const processing = source.duration(['upstream', 'maxProcessing'], '10s');
  return processing + source.duration(['upstream', 'lookup', 'lag'], '0s') + settleMarginMs;
}

function poll(source: ToolSource): NonNullable<Terms['poll']> | null {
  if (source.object('upstream', 'poll') === null) return null;
  return {
    everyMs: source.duration(['upstream', 'poll', 'interval'], '2s'),
    deadlineMs: source.duration(['upstream', 'poll', 'deadline'], 'PT1H'),
  };
}

function retentionMs(source: ToolSource, guarantee: Guarantee): number {
  switch (guarantee) {
    case 'idempotency_key':
      return source.duration(['upstream', 'keyRetention'], '0s');
    case 'conditional_create':
      // What was created under our id stays there.
      return longestDurationMs;
    case 'lookup':
    case 'none':
      return 0;
  }
}

function authority(source: ToolSource): LookupAuthority {
  if (source.object('upstream', 'lookup') === null) return 'none';
  return source.value('upstream', 'lookup', 'authoritative') === true ? 'authoritative' : 'presence_only';
}

function wholeNumber(source: ToolSource, path: readonly string[], fallback: number): number {
  const value = source.value(...path);
  return typeof value === 'number' ? value : fallback;
}
