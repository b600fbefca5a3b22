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
import type { Json } from '@intendant/intent';
import { redactions } from './redact-patterns.js';

/** Takes what nobody is to read of a tool's results out of them: named places, and what certain kinds of text look like. */
export class ResultRedactor {
  readonly #places: Places;
  readonly #patterns: readonly RedactionPattern[];

  constructor({ redaction }: Pick<ToolDefinition, 'redaction'>) {
    this.#places = hiddenPlaces(redaction?.pointers ?? []);
    this.#patterns = redaction?.patterns ?? defaultPatterns;
  }

  text(text: string): string {
    return this.#patterns.reduce((clean, pattern) => redactions[pattern](clean), text);
  }

  /** The same value where nothing had to go. */
  data(data: Json): Json {
    return this.#without(data, this.#places);
  }

  #without(data: Json, places: Places): Json {
    if (isHidden(places)) return takenOut;
    if (typeof data === 'string') return this.text(data);
    if (typeof data === 'number') return this.#number(data);
    if (data === null || typeof data !== 'object') return data;
    if (Array.isArray(data)) {
      const items = data.map((item: Json, at) => this.#without(item, hiddenBelow(places, `${at}`, true)));
      return items.some((item, at) => item !== data[at]) ? items : data;
    }
    const members = Object.entries(data).map(([name, value]): [string, Json, boolean] => {
      const [key, clean] = [this.text(name), this.#without(value as Json, hiddenBelow(places, name))];
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
