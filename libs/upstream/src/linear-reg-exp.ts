import { linearPattern } from '@intendant/tools';

/**
 * What JSONata uses of a global RegExp, in an engine without backtracking: the texts that expressions match come from
 * models and upstreams, and the time limit of an evaluation does not interrupt a match.
 */
export class LinearRegExp {
  lastIndex = 0;
  readonly #pattern: ReturnType<typeof linearPattern>;

  /** @throws Error when the expression uses what only backtracking can do */
  constructor(pattern: RegExp) {
    this.#pattern = linearPattern(pattern);
  }

  exec(text: string): { readonly index: number; readonly [group: number]: string | undefined; length: number } | null {
    const matcher = this.#pattern.matcher(text);
    if (this.lastIndex > text.length || !matcher.find(this.lastIndex)) {
      this.lastIndex = 0;
      return null;
    }
    this.lastIndex = matcher.end();
    const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, group) => matcher.group(group) ?? undefined);
    return Object.assign(groups, { index: matcher.start() });
  }
}
