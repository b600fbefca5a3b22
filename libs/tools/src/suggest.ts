import { distance } from 'fastest-levenshtein';

/** Longer names are not compared: edit distance is quadratic and the name may come from outside. */
const longestName = 64;

/**
 * The known name that was most likely meant, or undefined when nothing is close. Case, separators and the order of
 * words do not count as differences: `createRefund` means `refund.create`.
 */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > longestName) return undefined;
  const wanted = words(name);
  let best: { readonly name: string; readonly edits: number } | undefined;
  for (const candidate of known) {
    const edits = editsBetween(wanted, words(candidate));
    if (edits <= Math.max(1, Math.floor(candidate.length / 3)) && (best === undefined || edits < best.edits)) {
      best = { name: candidate, edits };
    }
  }
  return best?.name;
}

/** Words of a name, in lower case. */
export function words(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** Edits that make one list of words of the other, in whatever order they stand. */
export function editsBetween(a: readonly string[], b: readonly string[]): number {
  return Math.min(distance(a.join(''), b.join('')), distance(a.toSorted().join(''), b.toSorted().join('')));
}
