import type { ToolSource } from './tool-source.js';

/** What the runtime can fill into a path, a header or an argument of a program besides arguments of the call. */
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
  /** True in polls, which also know what the upstream answered when it accepted the request. */
  readonly accepted: boolean;
}

/** What templates of a tool file can name. */
export function fieldsOf(source: ToolSource, { accepted = false } = {}): TemplateFields {
  const input = source.object('input', 'properties') ?? {};
  const injected = Object.keys(source.object('inject') ?? {});
  const required = source.value('input', 'required');
  return {
    known: [...Object.keys(input), ...injected],
    given: [...(Array.isArray(required) ? required.map(String) : []), ...injected],
    accepted,
  };
}

/** What is wrong with a template, or null. */
export function templateMistake(template: string, { known, given, accepted }: TemplateFields): string | null {
  const rest = template.replace(/\{\{[^{}]*\}\}/g, '');
  if (rest.includes('{{') || rest.includes('}}')) return 'unbalanced braces; must be like {{order_id}}';
  for (const name of placeholders(template)) {
    if ((runtimePlaceholders as readonly string[]).includes(name)) continue;
    if (name.startsWith('accepted.')) {
      if (!accepted) return `{{${name}}} is only known to upstream.poll; remove it`;
      if (/^accepted\.[^.]+$/.test(name)) continue;
      return `{{${name}}} is too deep; must be one field of the answer, such as {{accepted.id}}`;
    }
    const field = name.replace(/^args\./, '');
    if (!known.includes(field)) {
      const all = [...runtimePlaceholders, ...known, ...(accepted ? ['accepted.<field>'] : [])];
      const right = all.map((each) => `{{${each}}}`).join(', ');
      return `{{${name}}} is neither an argument nor known to the runtime; must be one of ${right}`;
    }
    if (!given.includes(field)) return `{{${name}}} may be left out of a call; must be listed in input.required`;
  }
  return null;
}
