const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text that is HTML already. */
export class Markup {
  constructor(readonly text: string) {}
}

export type Content = Markup | string | number | readonly Content[];

/** A template whose values are escaped, all but those that are markup themselves: nothing gets in unescaped by oversight. */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Markup {
  return new Markup(strings.reduce((text, part, i) => text + render(values[i - 1] ?? '') + part));
}

function render(content: Content): string {
  if (content instanceof Markup) return content.text;
  if (typeof content === 'object') return content.map(render).join('');
  // What is no character of a document, such as a NUL, would end or distort it.
  return String(content)
    .replace(/[^\P{Cc}\n\t]/gu, '\ufffd')
    .replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
