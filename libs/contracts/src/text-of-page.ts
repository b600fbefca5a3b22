import { count } from './count.js';
import { fenced } from './fence.js';
import { spelledOut } from './shown-text.js';

/** What the text of a page is made of. The client brings this file along, as `text-of.ts`. */
export interface ToldPage {
  readonly tool: string;
  readonly pointer: string;
  readonly kind: string;
  readonly total: number | null;
  readonly nextCursor: string | null;
  readonly data: unknown;
  readonly omitted: readonly object[];
  readonly untrusted?: true;
}

/** A page of a result as text for a model: what it is and how to go on, then what stands there, fenced where it is from outside. */
export function textOfPage({ tool, pointer, kind, total, nextCursor, data, omitted, untrusted }: ToldPage): string {
  const what = total === null ? kind : `${kind} of ${count(total)}`;
  const where = pointer === '' ? 'all of the data' : spelledOut(pointer);
  const next = nextCursor === null ? 'There is no further page.' : `The next page has the cursor "${nextCursor}".`;
  const shown = JSON.stringify({ data, ...(omitted.length > 0 && { omitted }) });
  return [`${tool}, ${where} (${what}). ${next}`, untrusted ? fenced(shown) : shown].join('\n');
}
