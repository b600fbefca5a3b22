import type { Json } from '@intendant/intent';

/** Names of members that are told, and the form they must have: what is longer or looks otherwise is a text of somebody. */
const toldNames = 10;
const plainName = /^[\w.-]{1,40}$/;

/** What a value is, in words: `an object with items (a list of 3,412), next (text)`. `named`: with the names of its members. */
export function inWords(value: Json, { named }: { readonly named: boolean }): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return `a text of ${[...value].length.toLocaleString('en-US')} characters`;
  if (typeof value !== 'object') return `the ${typeof value} ${String(value)}`;
  if (Array.isArray(value)) return `a list of ${value.length.toLocaleString('en-US')}`;
  const entries: [string, Json][] = Object.entries(value);
  const told = named ? entries.filter(([name]) => plainName.test(name)).slice(0, toldNames) : [];
  if (told.length === 0) return `an object of ${entries.length.toLocaleString('en-US')}`;
  const members = told.map(([name, member]) => `${name} (${inShort(member)})`).join(', ');
  const more = entries.length - told.length;
  return `an object with ${members}${more > 0 ? ` and ${more.toLocaleString('en-US')} more` : ''}`;
}

function inShort(value: Json): string {
  if (typeof value === 'string') return 'text';
  if (Array.isArray(value) || value === null) return inWords(value, { named: false });
  return typeof value === 'object' ? 'an object' : typeof value;
}
