import type { Intent, Json, JsonObject } from '@intendant/intent';
import { count } from './count.js';
import { Refusal } from './errors.js';
import { outsideWarning } from './fence.js';
import { inWords } from './json-in-words.js';
import { pointerSteps, pointerTo } from './pointer.js';
import { isFromOutside } from './result.js';
import { handleOf, jsonBytes, listIn, shownBytes } from './shown-data.js';

/** What is wanted of the data behind a handle. */
export interface PageRequest {
  /** JSON Pointer (RFC 6901) into the data. Left out: the list that the tool declares, or else the data as a whole. */
  readonly pointer?: string | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
  /** Most items of a list, or members of an object. */
  readonly limit?: number | undefined;
}

interface Omitted {
  /** Reads it; of a member with a name that no pointer can tell, where it stands. */
  readonly pointer: string;
  readonly what: string;
}

/** A part of the data of an intent, never longer than its results may be. */
export interface ResultPage {
  readonly handle: string;
  readonly intentId: string;
  readonly tool: string;
  /** Where in the data this stands. */
  readonly pointer: string;
  /** What stands there: a list and an object come by items and members, a text by characters, others whole. */
  readonly kind: 'list' | 'object' | 'text' | 'value';
  readonly data: Json;
  /** Items, members or characters that stand there in all; null of a value. */
  readonly total: number | null;
  /** Items and members that are too large for any page; null stands for an item, a member is left out. */
  readonly omitted: readonly Omitted[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
  readonly untrusted?: true;
  readonly warning?: string;
}

const defaultLimit = 20;
const defaultMax = 100;

/**
 * Reads a page of what an intent answered.
 *
 * @throws Refusal `not_found` where there is no data, or none at the pointer; `invalid_arguments` for anything malformed
 */
export function pageOf(intent: Intent, request: PageRequest): ResultPage {
  const { intentId, tool, terms } = intent.proposal;
  if (intent.state !== 'committed') {
    throw new Refusal('not_found', `There is no data to read: intent ${intentId} is ${intent.state}.`);
  }
  const { list, maxBytes = shownBytes } = terms.shows ?? {};
  const pointer = request.pointer ?? (list && listIn(intent.data, list) ? list.at : '');
  const value = valueAt(intent.data, pointer, terms.untrusted !== true);
  const { limit = list?.limit ?? defaultLimit } = request;
  const max = list?.max ?? defaultMax;
  if (!Number.isInteger(limit) || limit < 1 || limit > max) throw wrong('limit', `a whole number from 1 to ${max}`);
  const page = partOf(value, { from: cursorOf(request.cursor), limit, maxBytes, pointer });
  return {
    ...{ handle: handleOf(intentId), intentId, tool, pointer },
    ...page,
    ...(isFromOutside(intent) && { untrusted: true as const, warning: outsideWarning }),
  };
}

type Part = Pick<ResultPage, 'kind' | 'data' | 'total' | 'omitted' | 'nextCursor'>;

interface Window {
  readonly from: number;
  readonly limit: number;
  readonly maxBytes: number;
  readonly pointer: string;
}

function partOf(value: Json, window: Window): Part {
  if (typeof value === 'string') return partOfText(value, window);
  if (value === null || typeof value !== 'object') {
    within(window.from, 0);
    return { kind: 'value', data: value, total: null, omitted: [], nextCursor: null };
  }
  if (Array.isArray(value)) {
    const items = value.map((item: Json, at): [string, Json] => [`${at}`, item]);
    const { taken, ...part } = partOfEntries(items, 1, window);
    return { kind: 'list', data: taken.map(([, item]) => item ?? null), ...part };
  }
  const { taken, ...part } = partOfEntries(Object.entries(value), null, window);
  return { kind: 'object', data: Object.fromEntries(taken.filter(([, item]) => item !== undefined)) as Json, ...part };
}

/** Entries from a cursor on, as many as fit; `null` bytes for a name: as many as it has. Undefined stands for what is too large. */
function partOfEntries(entries: readonly (readonly [string, Json])[], nameBytes: number | null, window: Window) {
  const { from, limit, maxBytes, pointer } = window;
  within(from, entries.length);
  const taken: [string, Json | undefined][] = [];
  const omitted: Omitted[] = [];
  let bytes = 2;
  for (const [name, value] of entries.slice(from, from + limit)) {
    const own = jsonBytes(value) + (nameBytes ?? jsonBytes(name) + 2);
    const tooLarge = own + 2 > maxBytes;
    const left = tooLarge ? omission(pointer, name, value, maxBytes) : null;
    const needed = left ? jsonBytes(left.pointer) + 'null,'.length : own;
    if (bytes + needed > maxBytes && taken.length > 0) break;
    bytes += needed;
    if (left) omitted.push(left);
    taken.push([name, tooLarge ? undefined : value]);
  }
  const next = from + taken.length;
  return { taken, total: entries.length, omitted, nextCursor: next < entries.length ? `${next}` : null };
}

/** A name that is too long for a page is too long for a pointer, too: then only where it stands is told. */
function omission(pointer: string, name: string, value: Json, maxBytes: number): Omitted {
  const at = pointerTo(pointer, name);
  const what = `${inWords(value, { named: false })}, ${count(jsonBytes(value))} bytes`;
  return jsonBytes(at) <= maxBytes
    ? { pointer: at, what }
    : { pointer, what: `${what}, under a name of ${count(name.length)} characters that no pointer can tell` };
}

function partOfText(text: string, { from, maxBytes }: Window): Part {
  const { length: total, at } = charactersOf(text, from);
  within(from, total);
  // A character has as many bytes as code units at least, so no page needs more of these.
  const characters = [...text.slice(at, at + maxBytes + 1)];
  let bytes = 2;
  let taken = 0;
  while (taken < characters.length) {
    bytes += jsonBytes(characters[taken] ?? '') - 2;
    if (bytes > maxBytes && taken > 0) break;
    taken++;
  }
  const until = from + taken;
  return {
    kind: 'text',
    data: characters.slice(0, taken).join(''),
    total,
    omitted: [],
    nextCursor: until < total ? `${until}` : null,
  };
}

/** How many characters a text has, and at which code unit the one numbered `from` begins; without a copy of the text. */
function charactersOf(text: string, from: number): { length: number; at: number } {
  let length = 0;
  let at = 0;
  for (let unit = 0; unit < text.length; unit += (text.codePointAt(unit) ?? 0) > 0xff_ff ? 2 : 1) {
    if (length === from) at = unit;
    length += 1;
  }
  return { length, at: from < length ? at : text.length };
}

function cursorOf(cursor: string | undefined): number {
  if (cursor !== undefined && !/^\d{1,9}$/.test(cursor)) throw wrong('cursor', 'the nextCursor of the page before');
  return Number(cursor ?? 0);
}

function within(from: number, length: number): void {
  if (from > length) throw wrong('cursor', `the nextCursor of the page before; what stands there ends at ${length}`);
}

function wrong(field: string, expected: string): Refusal {
  return new Refusal('invalid_arguments', `/${field}: expected ${expected}.`, {
    problems: [{ pointer: `/${field}`, expected }],
  });
}

function valueAt(data: Json, pointer: string, named: boolean): Json {
  if (!/^(?:\/(?:[^~/]|~[01])*)*$/.test(pointer)) {
    throw wrong(
      'pointer',
      'a JSON Pointer such as /items/0/name, in which ~1 stands for / and ~0 for ~; empty for all of the data',
    );
  }
  let here = '';
  let value = data;
  for (const step of pointerSteps(pointer)) {
    const next = memberOf(value, step);
    if (next === undefined) {
      const where = here === '' ? 'the data' : here;
      const said = `There is nothing at ${pointer}: ${where} is ${whatIsThere(value, named)}.`;
      throw new Refusal('not_found', said, { pointer, found: here }, 'fix_arguments');
    }
    here = pointerTo(here, step);
    value = next;
  }
  return value;
}

function memberOf(value: Json, step: string): Json | undefined {
  if (value === null || typeof value !== 'object') return undefined;
  if (Array.isArray(value)) return /^(?:0|[1-9]\d*)$/.test(step) ? value[Number(step)] : undefined;
  return Object.hasOwn(value, step) ? (value as JsonObject)[step] : undefined;
}

function whatIsThere(value: Json, named: boolean): string {
  const what = inWords(value, { named });
  return Array.isArray(value) && value.length > 0 ? `${what}, from 0 to ${value.length - 1}` : what;
}
