import { fenced } from './fence.js';
import type { ResultPage } from './result-page.js';
import { count } from './shown-data.js';
import { spelledOut } from './shown-text.js';

/** A page of a result as text for a model: what it is and how to go on, then what stands there, fenced where it is from outside. */
export function textOfPage({ tool, pointer, kind, total, nextCursor, data, omitted, untrusted }: ResultPage): string {
  const what = total === null ? kind : `${kind} of ${count(total)}`;
  const where = pointer === '' ? 'all of the data' : spelledOut(pointer);
  const next = nextCursor === null ? 'There is no further page.' : `The next page has the cursor "${nextCursor}".`;
  const shown = JSON.stringify({ data, ...(omitted.length > 0 && { omitted }) });
  return [`${tool}, ${where} (${what}). ${next}`, untrusted ? fenced(shown) : shown].join('\n');
}
