import { clockToleranceMs, runLifetimes } from '@intendant/contracts';
import type { Effect, Guarantee, LookupAuthority } from '@intendant/intent';
import { formatDuration } from './format-duration.js';

/** How a duration is known. Only the first three say something about the upstream; the others are our own choice. */
export type Basis = 'measured' | 'documented' | 'assumed' | 'chosen' | 'default' | 'computed';

export interface Span {
  readonly ms: number;
  readonly basis: Basis;
}

/** Every duration of a tool, in one place. */
export interface Spans {
  readonly effect: Effect;
  /** What is relied upon, which may be less than what the file says (see `reliedGuarantee`). */
  readonly guarantee: Guarantee;
  readonly authority: LookupAuthority;
  readonly attempts: number;
  readonly connect: Span;
  readonly call: Span;
  readonly notice: Span | null;
  readonly lease: Span;
  readonly settle: Span;
  readonly maxProcessing: Span;
  readonly lag: Span;
  readonly spacing: Span;
  /** Null where the upstream is not said to remember keys. */
  readonly keyRetention: Span | null;
  /** Of the lookup, if there is one. */
  readonly deadline: Span;
  readonly poll: { readonly interval: Span; readonly deadline: Span } | null;
  readonly approvalTtl: Span | null;
}

/** One time window of a tool, and what must be true of it. */
export interface Window {
  /** Short name, such as `keyRetention`. */
  readonly name: string;
  /** Field of the tool file that decides it. */
  readonly field: readonly string[];
  readonly ms: number;
  readonly basis: Basis;
  readonly holds: boolean;
  /** Completes "keyRetention (60 s) …", with every number in it. */
  readonly requirement: string;
}

/** Clocks, network and scheduling between the upstream's last effect and our lookup. */
export const leastSettleMarginMs = 100;

/**
 * The algebra of the windows: which must be longer than which, so that the promise of the tool's guarantee can be
 * kept. Pure; every window of the tool is in the answer, whether it holds or not.
 */
export function windowsOf(spans: Spans): Window[] {
  const { effect, guarantee, keyRetention } = spans;
  const windows = [lease(spans)];
  if (spans.notice) windows.push(notice(spans.notice, spans.call));
  windows.push(runLifetime(spans));
  if (spans.approvalTtl) windows.push(approval(spans.approvalTtl, spans.lease));
  if (effect !== 'read') {
    windows.push(settle(spans));
    const { deadline, authority } = spans;
    if (authority === 'authoritative') windows.push(lookupSpacing(spans.spacing, deadline));
    if (guarantee === 'idempotency_key' && keyRetention) {
      windows.push(retention(keyRetention, spans));
      if (authority !== 'none') windows.push(lookupDeadline(deadline, keyRetention, spans));
    }
  }
  if (spans.poll) windows.push(pollInterval(spans.poll), pollDeadline(spans.poll, spans.maxProcessing));
  return windows;
}

/** `keyRetention (60 s) must be longer than …`, for messages. */
export function inequality({ name, ms, requirement }: Window): string {
  return `${name} (${formatDuration(ms)}) ${requirement}`;
}

function lease({ lease: { ms, basis }, connect, call }: Spans): Window {
  const least = sum(['connect', connect], ['call', call], ['clock margin', clockToleranceMs]);
  return window('lease', ['limits', 'call'], ms, basis, ms > least.ms, `must be longer than ${least.text}`);
}

function notice({ ms, basis }: Span, call: Span): Window {
  const text = `must be shorter than call = ${formatDuration(call.ms)}, or nobody would ever be told`;
  return window('notice', ['limits', 'notice'], ms, basis, ms < call.ms, text);
}

/** An attempt has to start while its run lives, and so has the next one after an unknown outcome. */
function runLifetime({ effect, guarantee, lease, settle }: Spans): Window {
  const resends = effect !== 'read' && guarantee !== 'none';
  const need = resends ? sum(['lease', lease], ['settle', settle]) : sum(['lease', lease]);
  const ms = runLifetimes.longestMs;
  const field = resends && settle.ms > lease.ms ? ['upstream', 'maxProcessing'] : ['limits', 'call'];
  return window('longest run', field, ms, 'chosen', ms >= need.ms, `must be at least ${need.text}`);
}

function approval({ ms, basis }: Span, lease: Span): Window {
  const most = runLifetimes.longestMs - lease.ms;
  const text = `must be at most the longest run ${formatDuration(runLifetimes.longestMs)} - lease ${formatDuration(lease.ms)} = ${formatDuration(most)}`;
  return window('approval.ttl', ['approval', 'ttl'], ms, basis, ms <= most, text);
}

/** Before it an absence means nothing, since the effect may still come or may not be visible yet. */
function settle({ settle: { ms, basis }, maxProcessing, lag }: Spans): Window {
  const least = sum(['maxProcessing', maxProcessing], ['lookup.lag', lag], ['margin', leastSettleMarginMs]);
  return window('settle', ['upstream', 'settle'], ms, basis, ms >= least.ms, `must be at least ${least.text}`);
}

/**
 * Every attempt may use up its lease before it is found lost, then the settle time, then the distance of two absences:
 * only then the next one leaves, and the upstream must still know the key.
 */
function retention({ ms, basis }: Span, { attempts, lease, settle, spacing, authority }: Spans): Window {
  const round = sum(
    ['lease', lease],
    ['settle', settle],
    ...(authority === 'authoritative' ? [['spacing', spacing] as const] : []),
  );
  const latest = attempts * round.ms;
  const text = `must be longer than the latest resend: ${attempts} attempts x (${round.terms}) = ${formatDuration(latest)}`;
  return window('keyRetention', ['upstream', 'keyRetention'], ms, basis, ms > latest, text);
}

/** Otherwise the search would be given up before the second absence can be seen. */
function lookupSpacing({ ms, basis }: Span, deadline: Span): Window {
  const text = `must be shorter than lookup.deadline = ${formatDuration(deadline.ms)}`;
  return window('lookup.spacing', ['upstream', 'lookup', 'spacing'], ms, basis, ms < deadline.ms, text);
}

/** Asking ends when the key is forgotten: a deadline beyond would promise a search that is not made. */
function lookupDeadline({ ms, basis }: Span, keyRetention: Span, { lease, settle }: Spans): Window {
  const used = sum(['lease', lease], ['settle', settle]);
  const most = keyRetention.ms - used.ms;
  const text = `must be at most keyRetention ${formatDuration(keyRetention.ms)} - (${used.terms}) = ${formatDuration(most)}`;
  return window('lookup.deadline', ['upstream', 'lookup', 'deadline'], ms, basis, ms <= most, text);
}

function pollInterval({ interval: { ms, basis }, deadline }: NonNullable<Spans['poll']>): Window {
  const text = `must be shorter than poll.deadline = ${formatDuration(deadline.ms)}`;
  return window('poll.interval', ['upstream', 'poll', 'interval'], ms, basis, ms < deadline.ms, text);
}

/** A person who is asked earlier could not know more than that it is still being worked on. */
function pollDeadline({ deadline: { ms, basis } }: NonNullable<Spans['poll']>, maxProcessing: Span): Window {
  const text = `must be at least maxProcessing = ${formatDuration(maxProcessing.ms)}`;
  return window('poll.deadline', ['upstream', 'poll', 'deadline'], ms, basis, ms >= maxProcessing.ms, text);
}

function window(
  name: string,
  field: readonly string[],
  ms: number,
  basis: Basis,
  holds: boolean,
  requirement: string,
): Window {
  return { name, field, ms, basis, holds, requirement };
}

interface Sum {
  readonly ms: number;
  /** `lease 13 s + settle 11 s` */
  readonly terms: string;
  /** `lease 13 s + settle 11 s = 24 s` */
  readonly text: string;
}

function sum(...parts: readonly (readonly [name: string, span: Span | number])[]): Sum {
  const named = parts.map(([name, span]) => ({ name, ms: typeof span === 'number' ? span : span.ms }));
  const ms = named.reduce((total, each) => total + each.ms, 0);
  const terms = named.map((each) => `${each.name} ${formatDuration(each.ms)}`).join(' + ');
  return { ms, terms, text: named.length > 1 ? `${terms} = ${formatDuration(ms)}` : terms.replace(/ (?=\d)/, ' = ') };
}
