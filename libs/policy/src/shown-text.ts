import { createHash } from 'node:crypto';
import { cutNote, hasUnseen, spelledOut } from '@intendant/contracts';

/** Longer values are cut; in code points. */
export const longest = 500;
const kept = 200;

/** One word that shows all that it is. */
const word = /^[\p{L}\p{N}_.@:/+-]+$/u;

/** Text in JSON quotes, with what is not seen as `\u{…}`. */
export function quoted(text: string): string {
  return `"${spelledOut(text.replace(/["\\]/g, '\\$&'))}"`;
}

/** Plain words as they are, everything else in quotes; so are words that could be taken for another kind of value. */
export function plainOrQuoted(text: string): string {
  return word.test(text) && !hasUnseen(text) && !isJson(text) ? text : quoted(text);
}

/** A text of whoever chose it; a long one is cut, and says so outside of its quotes. */
export function shortened(text: string): string {
  const points = [...text];
  if (points.length <= longest) return plainOrQuoted(text);
  return `${quoted(points.slice(0, kept).join(''))}${rest(points.length, quoted(text))}`;
}

/** Cuts what has more than `most` code points. */
export function cut(text: string, most: number): string {
  const points = [...text];
  if (points.length <= most) return text;
  return `${points.slice(0, (most * kept) / longest).join('')}${rest(points.length, text)}`;
}

function rest(length: number, whole: string): string {
  return cutNote(length, createHash('sha256').update(whole).digest('hex'));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
