/** Which tools are wanted; left out: all. */
export interface Wanted {
  /** Words, in any order, each of them a part of name or description. */
  readonly query?: string | undefined;
  /** First words of the name, as in `payments` or `payments.refund`. */
  readonly namespace?: string | undefined;
}

/** The tools that have every word that is asked for, in the order in which they came. */
export function searchCatalogue<T extends { readonly name: string; readonly description: string }>(
  tools: readonly T[],
  { query = '', namespace = '' }: Wanted,
): T[] {
  const wanted = query.toLowerCase().trim();
  const words = wanted.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const asked = words.length === 0 && wanted !== '' ? [wanted] : words;
  return tools.filter(({ name, description }) => {
    const text = `${name} ${description}`.toLowerCase();
    return (namespace === '' || name.startsWith(`${namespace}.`)) && asked.every((word) => text.includes(word));
  });
}
