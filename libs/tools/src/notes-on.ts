import { runLifetimes } from '@intendant/contracts';
import { formatDuration } from './format-duration.js';
import { readIdentifiers } from './identifiers.js';
import { previewPath, readApply } from './read-preview.js';
import { kindOf, type UpstreamKind } from './read-upstream.js';
import { namedByCall, namedByLookup } from './request-names.js';
import type { ToolSource } from './tool-source.js';
import type { Spans } from './windows.js';

/** What is right but less than the file seems to say. */
export function notesOn(source: ToolSource, spans: Spans): string[] {
  const { guarantee, keyRetention, maxProcessing, lag, lease, settle, effect } = spans;
  const notes: string[] = [];
  if (keyRetention?.basis === 'assumed') {
    notes.push(
      `keyRetention (${formatDuration(keyRetention.ms)}) is assumed and counts as zero: the guarantee relied upon is ${guarantee}, not ${source.text('upstream', 'guarantee')}`,
    );
  }
  for (const [name, { basis, ms }] of Object.entries({ maxProcessing, 'lookup.lag': lag })) {
    if (basis === 'assumed') {
      notes.push(`${name} (${formatDuration(ms)}) is assumed: every absence that permits a resend rests on it`);
    }
  }
  const round = lease.ms + settle.ms;
  if (effect !== 'read' && guarantee !== 'none' && round > runLifetimes.interactiveMs) {
    notes.push(
      `lease + settle = ${formatDuration(round)} is longer than a run lives by default (${formatDuration(runLifetimes.interactiveMs)}): an unknown outcome is not sent again unless the run is opened with a longer ttl`,
    );
  }
  const credential = source.text('upstream', kindOf(source), 'credential');
  const sandbox = source.object('upstream', 'sandbox');
  if (credential !== null && sandbox !== null && sandbox['credential'] === undefined) {
    notes.push(
      `the sandbox is asked with the real credential ${credential}; name another in upstream.sandbox.credential`,
    );
  }
  if (readIdentifiers(source).length > 0) {
    notes.push('whether the tools that x-from-result names are there is checked with the whole folder only');
  }
  if (effect !== 'read') notes.push(...lookupNotes(source));
  notes.push(...previewNotes(source));
  return notes;
}

/** What the approver is shown, and how far it can be relied upon when the call is made. */
function previewNotes(source: ToolSource): string[] {
  if (source.object(...previewPath) === null) return [];
  if (source.text(...previewPath, 'use') === 'sandbox') {
    return ['the preview shows what the sandbox holds: what is there really may be something else'];
  }
  const apply = readApply(source);
  if (apply === null)
    return ['the preview has no token: nobody notices what changes between the approval and the call'];
  if (apply.kind !== 'reread') return [];
  return [
    'the preview is read again just before the call: what changes between the two is not noticed, as it would be by an upstream that compares (if_match, header or field)',
  ];
}

/** How the runtime itself hands the key over, per kind. */
const keyGoesAs: Readonly<Record<UpstreamKind, string | null>> = {
  http: 'as the header Idempotency-Key',
  mcp: 'in _meta as intendant/key',
  process: 'in the environment as INTENDANT_KEY and INTENDANT_INTENT_ID',
  module: null,
};

function lookupNotes(source: ToolSource): string[] {
  const kind = kindOf(source);
  const goesAs = keyGoesAs[kind];
  if (source.object('upstream', 'lookup') === null || goesAs === null) return [];
  const asks = namedByLookup(source);
  if (asks.size === 0) {
    return [
      'the lookup names neither key nor intentId: two intents with the same arguments cannot be told apart by it',
    ];
  }
  // Who does nothing twice for one key keeps the key.
  if (source.text('upstream', 'guarantee') === 'idempotency_key') return [];
  const sends = namedByCall(source);
  if ([...asks].some((name) => sends.has(name))) return [];
  return [
    `the lookup asks by ${[...asks].join(' and ')}, which the call sends only ${goesAs}: unless the upstream keeps that, nothing is ever found, and an effect that is there is taken for absent`,
  ];
}
