import type { Json } from '@intendant/intent';
import { numberProblem } from '@intendant/tools';

/** `data` of an empty body is null. */
export type JsonBody = { readonly ok: true; readonly data: Json } | { readonly ok: false; readonly why: string };

/** Deeper answers are no receipts: the log and everything behind it would have to carry them for ever. */
const deepest = 64;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads an answer's body as JSON (RFC 8259: UTF-8, nothing else). A number that would change when it is read, such as an
 * id beyond 2^53, comes as the text that it is written with. Of members with one name the last one counts.
 */
export function parseBody(body: Buffer): JsonBody {
  if (body.length === 0) return { ok: true, data: null };
  try {
    const text = utf8.decode(body);
    const data = exactly(text, JSON.parse(text) as Json);
    return fits(data, deepest)
      ? { ok: true, data }
      : { ok: false, why: `the answer is nested deeper than ${deepest} levels` };
  } catch {
    return { ok: false, why: 'the answer is not JSON' };
  }
}

/** A digit more than a number always keeps, or an exponent that can exceed it. */
const mayChange = /\d{16}|\d[eE]\+?\d{2}/;
const stringOrNumber = /"(?:[^"\\]+|\\.)*"|-?\d[\d.eE+-]*/g;

/** `data`, which is what is in `text`, with numbers that are not what is written there as texts. */
function exactly(text: string, data: Json): Json {
  if (!mayChange.test(text)) return data;
  const exact = text.replace(stringOrNumber, (each) =>
    each.startsWith('"') || numberProblem(each) === null ? each : `"${each}"`,
  );
  return exact === text ? data : (JSON.parse(exact) as Json);
}

function fits(data: Json, levels: number): boolean {
  if (typeof data !== 'object' || data === null) return true;
  return levels > 0 && Object.values(data).every((part: Json) => fits(part, levels - 1));
}
