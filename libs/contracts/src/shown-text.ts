/**
 * What is not seen, or changes how its surroundings are seen: control and format characters (zero width, direction,
 * byte order mark), separators but the space, private and unassigned characters, surrogates alone, and letters and
 * marks that have no shape.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Cn}\p{Default_Ignorable_Code_Point}\u{2800}]|(?! )\p{Zs}/gu;

export function hasUnseen(text: string): boolean {
  return text.search(unseen) >= 0;
}

/** With what is not seen as `\u{…}`. */
export function spelledOut(text: string): string {
  return withUnseen(text, (each) => `\\u{${each.codePointAt(0)?.toString(16)}}`);
}

/** With something else in the place of each character that is not seen. */
export function withUnseen(text: string, written: (character: string) => string): string {
  return text.replace(unseen, written);
}

/** Stands behind the beginning of a value that was cut. `digest`: SHA-256 of the whole, in hex. */
export function cutNote(length: number, digest: string): string {
  return `… (${length} characters, sha256 ${digest.slice(0, 16)})`;
}

/** Whether a value may have been cut in a text: whoever chose a value can make it look so, and never the other way round. */
export function mayBeCut(text: string): boolean {
  return /… \(\d+ characters, sha256 [0-9a-f]{16}\)/.test(text);
}
