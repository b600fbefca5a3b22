import { type In, type Json, type JsonObject, type ShownList, valuesAt } from '@intendant/intent';
import { count } from './count.js';
import { inWords } from './json-in-words.js';
import { pointerSteps } from './pointer.js';

/** Bytes of JSON of `data` that a result shows where the tool file does not say otherwise, and most that one can say. */
export const shownBytes = 16_384;
export const mostShownBytes = 512 * 1024;

/** What a result shows of the data of its intent. */
export interface ShownData {
  readonly data: Json;
  /** What is not shown, and how to read it; null where all is. */
  readonly summary: string | null;
  /** Reads all of it; null where it is all shown. */
  readonly handle: string | null;
  /** Items that there are in all; left out where the tool declares no list. */
  readonly total?: number;
}

const handlePattern = /^res_([0-9A-HJKMNP-TV-Z]{26})$/;

export function handleOf(intentId: string): string {
  return `res_${intentId}`;
}

/** The intent that a handle stands for; null: it is none. */
export function intentOfHandle(handle: string): string | null {
  return handlePattern.exec(handle)?.[1] ?? null;
}

/** The data as every surface shows it: a declared list shortened, and nothing at all where it is too large even then. */
export function shownData({ proposal, data }: Pick<In<'committed'>, 'proposal' | 'data'>): ShownData {
  const { intentId, tool, args, terms } = proposal;
  const { list, maxBytes = shownBytes } = terms.shows ?? {};
  const handle = handleOf(intentId);
  const found = list && listIn(data, list);
  const shortened = list && found && shortenedList(data, list, found, args, tool);
  const shown = shortened ?? { data, summary: null, isWhole: true };
  const total = found && { total: found.total };
  const bytes = jsonBytes(shown.data);
  if (bytes <= maxBytes) {
    return { data: shown.data, summary: shown.summary, handle: shown.isWhole ? null : handle, ...total };
  }
  const all = shown.isWhole ? bytes : jsonBytes(data);
  const what = inWords(data, { named: terms.untrusted !== true });
  const items = found ? ` It lists ${count(found.items.length)} of ${count(found.total)}.` : '';
  const summary = `${tool} answered ${count(all)} bytes of JSON, more than the ${count(maxBytes)} that are shown: ${what}.${items} The handle reads it by page and by JSON Pointer.`;
  return { data: null, summary, handle, ...total };
}

/** Bytes of a value as JSON in UTF-8. */
export function jsonBytes(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value));
}

interface FoundList {
  readonly items: readonly Json[];
  /** How many there are in all, as far as is known. */
  readonly total: number;
}

/** Null where the answer has no list at that place. */
export function listIn(data: Json, { at, total }: ShownList): FoundList | null {
  const [items] = valuesAt(data, at);
  if (!Array.isArray(items)) return null;
  const [told] = total === undefined ? [] : valuesAt(data, total);
  const known = Number.isSafeInteger(told) ? Math.max(Number(told), items.length) : items.length;
  return { items, total: known };
}

function shortenedList(data: Json, list: ShownList, found: FoundList, args: JsonObject, tool: string) {
  const { items, total } = found;
  const wanted = list.argument === undefined ? undefined : args[list.argument];
  const asked = typeof wanted === 'number' && Number.isSafeInteger(wanted) && wanted > 0 ? wanted : list.limit;
  const shown = Math.min(asked, list.max, items.length);
  const isWhole = shown === items.length;
  if (isWhole && shown === total) return { data, summary: null, isWhole };
  const order = list.order === undefined ? '' : `, ${list.order}`;
  const narrow = list.narrow?.length ? `; narrow with ${list.narrow.map((name) => `${name}=`).join(' or ')}` : '';
  const rest = isWhole
    ? ` ${tool} was given no more than these.`
    : items.length === total
      ? ' The handle reads the rest.'
      : ` The handle reads the ${count(items.length)} that ${tool} was given.`;
  const summary = `Showing ${count(shown)} of ${count(total)}${order}${narrow}.${rest}`;
  const part = isWhole ? data : replaced(data, pointerSteps(list.at), items.slice(0, shown));
  return { data: part, summary, isWhole };
}

function replaced(data: Json, [step, ...rest]: readonly string[], value: Json): Json {
  if (step === undefined) return value;
  if (Array.isArray(data)) {
    return data.map((item: Json, index) => (`${index}` === step ? replaced(item, rest, value) : item));
  }
  const object = data as JsonObject;
  return { ...object, [step]: replaced(object[step] ?? null, rest, value) };
}
