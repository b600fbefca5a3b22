import {
  defaultPatterns,
  hiddenBelow,
  hiddenPlaces,
  isHidden,
  type Places,
  type RedactionPattern,
  type ToolDefinition,
  takenOut,
} from '@intendant/contracts';
import type { Json, JsonObject } from '@intendant/intent';
import { redactions } from './redact-patterns.js';
import { withoutNamed } from './redact-words.js';

/** Takes what nobody is to read of a tool's results out of them: named places, and what certain kinds of text look like. */
export class ResultRedactor {
  readonly #places: Places;
  readonly #patterns: readonly RedactionPattern[];
  /** What places are called; null where one is all of an answer. */
  readonly #names: readonly string[] | null;

  constructor({ redaction }: Pick<ToolDefinition, 'redaction'>) {
    this.#places = hiddenPlaces(redaction?.pointers ?? []);
    this.#patterns = redaction?.patterns ?? defaultPatterns;
    const names = this.#places.map((steps) => steps.findLast((step) => !/^(?:\*|\d+)$/.test(step)));
    this.#names = names.every((name) => name !== undefined) ? names : null;
  }

  /** A text by which an upstream, or whoever reads its answer, explains something. */
  words(text: string): string {
    return this.#text(withoutNamed(text, this.#names));
  }

  /**
   * The same value where nothing had to go.
   *
   * @param needed members of it that stay what they are; all of it
   */
  data(data: Json, needed: readonly string[] | 'all' = []): Json {
    if (needed === 'all') return data;
    const clean = this.#without(data, this.#places);
    if (clean === data || !isObject(data) || !isObject(clean)) return clean;
    const kept = needed.filter((name) => Object.hasOwn(data, name)).map((name) => [name, data[name] ?? null] as const);
    return { ...clean, ...Object.fromEntries(kept) };
  }

  #text(text: string): string {
    return this.#patterns.reduce((clean, pattern) => redactions[pattern](clean), text);
  }

  #without(data: Json, places: Places): Json {
    if (isHidden(places)) return takenOut;
    if (typeof data === 'string') return this.#text(data);
    if (typeof data === 'number') return this.#number(data);
    if (data === null || typeof data !== 'object') return data;
    if (Array.isArray(data)) {
      const items = data.map((item: Json, at) => this.#without(item, hiddenBelow(places, `${at}`, true)));
      return items.some((item, at) => item !== data[at]) ? items : data;
    }
    const members = Object.entries(data).map(([name, value]): [string, Json, boolean] => {
      const [key, clean] = [this.#text(name), this.#without(value as Json, hiddenBelow(places, name))];
      return [key, clean, key !== name || clean !== value];
    });
    return members.some(([, , isChanged]) => isChanged) ? Object.fromEntries(members) : data;
  }

  /** Only a whole number can be one of a card. */
  #number(number: number): Json {
    if (!Number.isSafeInteger(number) || number < 1e12 || !this.#patterns.includes('card')) return number;
    return redactions.card(String(number)) === takenOut ? takenOut : number;
  }
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
