import { runLifetimes } from '@intendant/contracts';
import { formatDuration } from './format-duration.js';
import { readSpans } from './read-spans.js';
import { kindOf } from './read-upstream.js';
import type { ToolSource } from './tool-source.js';
import { inequality, type Spans, type Window, windowsOf } from './windows.js';

/** Checks that the time windows of a file without other mistakes fit together. */
export function checkWindows(source: ToolSource): { spans: Spans; windows: Window[] } {
  const spans = readSpans(source);
  const windows = windowsOf(spans);
  for (const window of windows) if (!window.holds) source.report(window.field, inequality(window));
  return { spans, windows };
}

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
  return notes;
}
