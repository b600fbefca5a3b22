import { type RedactionPattern, takenOut } from '@intendant/contracts';

/** What takes each kind of text out, in a time that grows with the length of the text alone. */
export const redactions: Readonly<Record<RedactionPattern, (text: string) => string>> = {
  card: withoutCards,
  iban: withoutIbans,
  token: (text) => text.replace(tokens, takenOut).replace(basic, (found, pair) => (isPair(pair) ? takenOut : found)),
};

/** From and to where a part of a text goes. */
type Span = readonly [start: number, end: number];

/**
 * A number by itself, or with letters before and after (`PAN4111…`). Digits between letters and digits are a part of an
 * id, such as a hash; so are more than 19.
 */
const number = /(?<![A-Za-z0-9])([A-Za-z]*)(\d{3,19})(?=[A-Za-z]*(?![A-Za-z0-9]))/g;
/** What stands between the groups of a number as people and forms write it. */
const between = /^[\s._\p{Pd}\p{Cf}]{1,3}$/u;
const fewestDigits = 13;
/** What issuers begin their numbers with (ISO/IEC 7812): others have the right check digit by chance. */
const issued =
  /^(?:4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|3(?:0[0-5]|095|[689])\d{11,16}|35\d{14}|6(?:011|4[4-9]|5|2)\d{12,16})$/;
const mostDigits = 19;

/** Groups that together are a card number go, whatever number stands before or behind them: a date, a CVV. */
function withoutCards(text: string): string {
  const groups: { digits: string; start: number; end: number; goesOn: boolean }[] = [];
  for (const { index, 1: letters = '', 2: digits = '' } of text.matchAll(number)) {
    const start = index + letters.length;
    const end = groups.at(-1)?.end ?? 0;
    groups.push({ digits, start, end: start + digits.length, goesOn: between.test(text.slice(end, start)) });
  }
  const spans: Span[] = [];
  for (const [first, { start }] of groups.entries()) {
    let digits = '';
    let end: number | null = null;
    for (let at = first; at < groups.length && digits.length < mostDigits; at += 1) {
      const group = groups[at];
      if (group === undefined || (at > first && !group.goesOn)) break;
      digits += group.digits;
      if (isCard(digits) && !(at === first && isFraction(text, start))) end = group.end;
    }
    if (end !== null) spans.push([start, end]);
  }
  return without(text, spans);
}

/** `0.4111111111111111` is a number like any other. */
function isFraction(text: string, start: number): boolean {
  return /^\d\.$/.test(text.slice(Math.max(0, start - 2), start));
}

/** The check digit by Luhn (ISO/IEC 7812-1, annex B). */
function isCard(digits: string): boolean {
  if (digits.length < fewestDigits || !issued.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const value = Number(digits[at]) * ((digits.length - at) % 2 === 1 ? 1 : 2);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

/** ISO 13616: country, two check digits, up to 30 letters and digits, in groups of four or not. */
const ibanLike =
  /(?<![A-Za-z0-9])(?=([A-Z]{2}\d{2}(?:[\s\p{Pd}\p{Cf}]{0,2}[A-Z0-9]{4}){2,7}(?:[\s\p{Pd}\p{Cf}]{0,2}[A-Z0-9]{1,3})?)(?![A-Za-z0-9]))/giu;

function withoutIbans(text: string): string {
  const spans = [...text.matchAll(ibanLike)].flatMap(({ index, 1: found = '' }): Span[] => {
    const length = ibanAtStart(found);
    return length === 0 ? [] : [[index, index + length]];
  });
  return without(text, spans);
}

/**
 * Characters at the start of `found` that are an IBAN by their check digits (ISO/IEC 7064, modulo 97); 0: none are. What
 * follows may look like more of it, so each end of a word is tried, and the last one that fits counts.
 */
function ibanAtStart(found: string): number {
  const head = found.slice(0, 4);
  let [rest, signs, fits] = [0, head.length, 0];
  for (let at = head.length; at < found.length && signs < 34; at += 1) {
    const value = Number.parseInt(found.charAt(at), 36);
    if (Number.isNaN(value)) continue;
    rest = modulo97(rest, value);
    signs += 1;
    const isEnd = Number.isNaN(Number.parseInt(found.charAt(at + 1), 36));
    if (isEnd && signs >= 15 && [...head].reduce((r, c) => modulo97(r, Number.parseInt(c, 36)), rest) === 1)
      fits = at + 1;
  }
  return fits;
}

function modulo97(rest: number, value: number): number {
  return (rest * (value > 9 ? 100 : 10) + value) % 97;
}

/** `spans` by their start; those that overlap go as one. */
function without(text: string, spans: readonly Span[]): string {
  let clean = '';
  let upTo = 0;
  for (const [start, end] of spans) {
    if (start >= upTo) clean += `${text.slice(upTo, start)}${takenOut}`;
    upTo = Math.max(upTo, end);
  }
  return clean + text.slice(upTo);
}

const scheme = (name: string) =>
  String.raw`(?<=\b${[...name].map((letter) => `[${letter}${letter.toUpperCase()}]`).join('')}(?:\s|%20|\+){1,4})`;

/** What lets its bearer in, where it can be told by its form. */
const tokens = new RegExp(
  [
    String.raw`${scheme('bearer')}[\w.~+/-]{16,}=*`,
    // JSON Web Tokens, which begin with the base64 of {"
    String.raw`(?<![A-Za-z0-9])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}`,
    String.raw`(?<![A-Za-z0-9])(?:sk|rk|pk)_(?:live|test)_\w{16,}`,
    String.raw`(?<![A-Za-z0-9])sk-(?:ant-|proj-)?[\w-]{20,}`,
    String.raw`(?<![A-Za-z0-9])(?:gh[opsur]_\w{36,}|github_pat_\w{30,}|glpat-[\w-]{20,}|npm_\w{36,})`,
    String.raw`(?<![A-Za-z0-9])xox[abeoprs]-[\w-]{10,}`,
    '(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])',
    String.raw`(?<![A-Za-z0-9])AIza[\w-]{35}`,
    '-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[^]*?(?:-----END [A-Z ]{0,20}PRIVATE KEY-----|$)',
  ].join('|'),
  'g',
);

const basic = new RegExp(`${scheme('basic')}([A-Za-z0-9+/_-]{8,}={0,2})`, 'g');

/** User and password (RFC 7617); a word that stands behind "basic" is none. */
function isPair(base64: string): boolean {
  return /^[^\p{Cc}\u{fffd}]*:[^\p{Cc}\u{fffd}]*$/u.test(Buffer.from(base64, 'base64').toString('utf8'));
}
