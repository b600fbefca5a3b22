import { createHash } from 'node:crypto';

/** Longer values are cut; in code points. */
const longest = 500;
const kept = 200;

/** One word that shows all that it is. */
const word = /^[\p{L}\p{N}_.@:/+-]+$/u;

/**
 * What is not seen, or changes how its surroundings are seen: control and format characters (zero width, direction,
 * byte order mark), separators but the space, private and unassigned characters, surrogates alone, and letters and
 * marks that have no shape.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Cn}\p{Default_Ignorable_Code_Point}\u{2800}]|(?! )\p{Zs}/gu;

/** Text in JSON quotes, with what is not seen as `\u{…}`. */
export function quoted(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&').replace(unseen, (each) => `\\u{${each.codePointAt(0)?.toString(16)}}`);
  return `"${escaped}"`;
}

/** Plain words as they are, everything else in quotes; so are words that could be taken for another kind of value. */
export function plainOrQuoted(text: string): string {
  return word.test(text) && text.search(unseen) < 0 && !isJson(text) ? text : quoted(text);
}

/** A text of whoever chose it; a long one is cut, and says so outside of its quotes. */
export function shortened(text: string): string {
  const points = [...text];
  if (points.length <= longest) return plainOrQuoted(text);
  return `${quoted(points.slice(0, kept).join(''))}${rest(points.length, quoted(text))}`;
}

/** Cuts JSON that is long. */
export function cut(json: string): string {
  const points = [...json];
  if (points.length <= longest) return json;
  return `${points.slice(0, kept).join('')}${rest(points.length, json)}`;
}

function rest(length: number, whole: string): string {
  return `… (${length} characters, sha256 ${createHash('sha256').update(whole).digest('hex').slice(0, 16)})`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
