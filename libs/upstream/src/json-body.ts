import type { Json } from '@intendant/intent';

/** `data` of an empty body is null. */
export type JsonBody = { readonly ok: true; readonly data: Json } | { readonly ok: false; readonly why: string };

/** Deeper answers are no receipts: the log and everything behind it would have to carry them for ever. */
const deepest = 64;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads an answer's body as JSON (RFC 8259: UTF-8, nothing else). */
export function parseBody(body: Buffer): JsonBody {
  if (body.length === 0) return { ok: true, data: null };
  try {
    const data = JSON.parse(utf8.decode(body)) as Json;
    return fits(data, deepest)
      ? { ok: true, data }
      : { ok: false, why: `the answer is nested deeper than ${deepest} levels` };
  } catch {
    return { ok: false, why: 'the answer is not JSON' };
  }
}

function fits(data: Json, levels: number): boolean {
  if (typeof data !== 'object' || data === null) return true;
  return levels > 0 && Object.values(data).every((part: Json) => fits(part, levels - 1));
}
