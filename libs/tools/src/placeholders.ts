/** What the runtime can fill into a path or a header besides arguments. */
export const runtimePlaceholders = ['key', 'intentId'] as const;

/** Names inside `{{…}}`. */
export function placeholders(template: string): string[] {
  return [...template.matchAll(/\{\{([^{}]*)\}\}/g)].map(([, name]) => String(name).trim());
}

export interface TemplateFields {
  /** The arguments and injected fields of the tool. */
  readonly known: readonly string[];
  /** Those that no call leaves out. */
  readonly given: readonly string[];
}

/** What is wrong with a template, or null. */
export function templateMistake(template: string, { known, given }: TemplateFields): string | null {
  const rest = template.replace(/\{\{[^{}]*\}\}/g, '');
  if (rest.includes('{{') || rest.includes('}}')) return 'unbalanced braces; must be like {{order_id}}';
  for (const name of placeholders(template)) {
    if ((runtimePlaceholders as readonly string[]).includes(name)) continue;
    const field = name.replace(/^args\./, '');
    if (!known.includes(field)) {
      const all = [...runtimePlaceholders, ...known].map((each) => `{{${each}}}`);
      return `{{${name}}} is neither an argument nor known to the runtime; must be one of ${all.join(', ')}`;
    }
    if (!given.includes(field)) return `{{${name}}} may be left out of a call; must be listed in input.required`;
  }
  return null;
}
