import { type Certificate, durationText, type Finding } from '@intendant/certify';
import type { ToolDefinition } from '@intendant/contracts';
import type { Guarantee } from '@intendant/intent';
import type { DeclaredDuration } from '@intendant/tools';
import type { Context } from './context.js';
import { printable } from './table.js';

/** What promises more stands later; more may be declared where the vendor promises it, but need not. */
const strengths: readonly Guarantee[] = ['none', 'lookup', 'idempotency_key', 'conditional_create'];
/** A value for the tool file is longer than what was seen: the next time it may take longer. */
const allowance = 2;
const stepMs = 10;
/** Probes about times: where one fails, other times may hold. */
const timed: readonly string[] = ['stale_lookup', 'late_commit', 'last_look'];
/** Probes that show a lookup to say the same whatever it is asked; how far it is behind means nothing then. */
const uselessLookup: readonly string[] = ['never_used', 'receipts'];

/** Prints a certificate for a person or as JSON. */
export function showCertificate(
  { out }: Context,
  tool: ToolDefinition,
  target: 'sandbox' | 'real upstream',
  certificate: Certificate,
  json: boolean | undefined,
): void {
  if (json) {
    out(JSON.stringify({ tool: tool.name, version: tool.version, target, ...certificate }));
    return;
  }
  const { findings, supported } = certificate;
  out(`${tool.name} version ${tool.version}, against its ${target}`);
  out('');
  for (const finding of findings) for (const line of described(finding)) out(line);
  out('');
  out(`declared   ${declaration(certificate, tool)}`);
  const times = findings.some(({ probe, result }) => timed.includes(probe) && result === 'failed');
  out(`supported  ${supported}${supported !== 'none' && times ? ', with the times below' : ''}`);
  const untested = findings.filter(({ result }) => result === 'not_testable').length;
  const rest = untested === 0 ? '' : ` (${untested} of ${findings.length} could not be tested)`;
  out(`verdict    ${verdictOf(certificate)}${rest}`);
  const lines = pasted(certificate);
  if (lines.length > 0) out(`\nto change in the tool file (times: twice the longest seen):\n${lines.join('\n')}`);
}

function verdictOf({ verdict, findings, declared, supported }: Certificate): string {
  switch (verdict) {
    case 'holds':
      return 'the declaration holds';
    case 'broken':
      return `the declaration does not hold: ${findings.filter(({ result }) => result === 'failed').length} failed`;
    case 'not_shown':
      return `not shown: nothing contradicts ${declared.guarantee}, but what was seen supports only ${supported}`;
  }
}

function described({ result, probe, says, evidence }: Finding): string[] {
  const head = `${result.replace('_', ' ').padEnd(14)}${probe.padEnd(26)}${printable(says)}`;
  if (result !== 'failed') return [head];
  const stories = evidence.flatMap(({ key, lines }) => [
    `    key ${key}`,
    ...lines.map(({ ms, what }) => `    ${String(ms).padStart(7)} ms  ${printable(what)}`),
  ]);
  return [head, ...stories];
}

function declaration({ declared }: Certificate, { terms }: ToolDefinition): string {
  const { guarantee, keyRetention, maxProcessing, lag } = declared;
  const words: string[] = [guarantee];
  if (keyRetention) words.push(`key kept ${durationText(keyRetention.ms)} (${keyRetention.basis})`);
  words.push(`processing up to ${durationText(maxProcessing.ms)} (${maxProcessing.basis})`);
  if (lag) {
    const kind = terms.lookup === 'authoritative' ? 'authoritative lookup' : 'lookup that proves presence only';
    words.push(`${kind}, lag ${durationText(lag.ms)} (${lag.basis})`);
  }
  return words.join(', ');
}

/**
 * Lines for the tool file: only what has to change. A time that was seen is no reason to make a longer one shorter, since
 * a sandbox is often faster than the real thing.
 */
function pasted({ measured, supported, declared, findings }: Certificate): string[] {
  const useless = findings.some(({ probe, result }) => uselessLookup.includes(probe) && result === 'failed');
  const processing = longer(declared.maxProcessing, measured.processingMs);
  const lag = declared.lag === null || useless ? null : longer(declared.lag, measured.lagMs);
  const weaker = strengths.indexOf(supported) < strengths.indexOf(declared.guarantee);
  const guarantee = weaker ? `${supported}  # declared: ${declared.guarantee}` : null;
  if (guarantee === null && processing === null && lag === null) return [];
  return [
    '  upstream:',
    ...(guarantee === null ? [] : [`    guarantee: ${guarantee}`]),
    ...(declared.keyRetention && supported !== 'idempotency_key' ? ['    # keyRetention: remove it'] : []),
    ...(processing === null ? [] : [`    maxProcessing: ${processing}`]),
    ...(lag === null ? [] : ['    lookup:', `      lag: ${lag}`]),
  ];
}

/** Twice the time seen where that is more than declared; the declared time where only its basis is better now. */
function longer({ ms, basis }: DeclaredDuration, seenMs: number | null): string | null {
  if (seenMs === null) return null;
  const needed = Math.ceil((seenMs * allowance) / stepMs) * stepMs;
  if (needed <= ms && basis !== 'assumed') return null;
  return `{ value: ${durationText(Math.max(needed, ms))}, basis: measured }`;
}
