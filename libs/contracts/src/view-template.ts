/** A piece of a template: text as it stands, or the name of a field whose value goes there. */
export type ViewPart = { readonly text: string } | { readonly field: string };

/** The pieces of a text with `{{field}}`, in order; null: its braces are unbalanced. */
export function viewParts(template: string): ViewPart[] | null {
  // Splitting by what is in brackets puts the names at the odd places.
  const parts = template
    .split(/\{\{([^{}]*)\}\}/)
    .map((piece, at): ViewPart => (at % 2 === 1 ? { field: piece.trim() } : { text: piece }));
  return parts.some((part) => 'text' in part && /\{\{|\}\}/.test(part.text)) ? null : parts;
}
