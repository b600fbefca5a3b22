import { readSpans } from './read-spans.js';
import type { ToolSource } from './tool-source.js';
import { inequality, type Spans, type Window, windowsOf } from './windows.js';

/** Checks that the time windows of a file without other mistakes fit together. */
export function checkWindows(source: ToolSource): { spans: Spans; windows: Window[] } {
  const spans = readSpans(source);
  const windows = windowsOf(spans);
  for (const window of windows) if (!window.holds) source.report(window.field, inequality(window));
  return { spans, windows };
}
