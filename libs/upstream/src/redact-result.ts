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

/** 13 to 19 digits, in groups or not; neither a part of a longer word nor of a decimal fraction. */
const cardLike = /(?<![\w.-])\d(?:[ -]?\d){12,18}(?!\w)/g;
/** What issuers begin their numbers with (ISO/IEC 7812): others have the right check digit by chance. */
const issued =
  /^(?:4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|3(?:0[0-5]|095|[689])\d{11,16}|35\d{14}|6(?:011|4[4-9]|5|2)\d{12,16})$/;
/** ISO 13616: country, two check digits, up to 30 letters and digits, in groups of four or not. */
const ibanLike = /(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)/g;
/** What lets its bearer in, where it can be told by its form. */
const tokens = new RegExp(
  [
    String.raw`(?<=\bBearer(?:\s|%20|\+){1,4})[\w.~+/-]{16,}=*`,
    // JSON Web Tokens, which begin with the base64 of {"
    String.raw`\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}`,
    String.raw`\b(?:sk|rk|pk)_(?:live|test)_\w{16,}`,
    String.raw`\bsk-(?:ant-|proj-)?[\w-]{20,}`,
    String.raw`\b(?:gh[opsur]_\w{36,}|github_pat_\w{30,}|glpat-[\w-]{20,}|npm_\w{36,})`,
    String.raw`\bxox[abeoprs]-[\w-]{10,}`,
    String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
    String.raw`\bAIza[\w-]{35}`,
    '-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[^]*?(?:-----END [A-Z ]{0,20}PRIVATE KEY-----|$)',
  ].join('|'),
  'g',
);

const redactions: Readonly<Record<RedactionPattern, (text: string) => string>> = {
  card: (text) => text.replace(cardLike, (found) => (isCard(found.replace(/\D/g, '')) ? takenOut : found)),
  iban: (text) => text.replace(ibanLike, (found) => (isIban(found.replaceAll(' ', '')) ? takenOut : found)),
  token: (text) => text.replace(tokens, takenOut),
};

/** The check digit by Luhn (ISO/IEC 7812-1, annex B). */
function isCard(digits: string): boolean {
  if (!issued.test(digits)) return false;
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

/** The check digits by ISO/IEC 7064, modulo 97. */
function isIban(text: string): boolean {
  if (text.length < 15 || text.length > 34) return false;
  const turned = `${text.slice(4)}${text.slice(0, 4)}`;
  return [...turned].reduce((rest, character) => Number(`${rest}${Number.parseInt(character, 36)}`) % 97, 0) === 1;
}
