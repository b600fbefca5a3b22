import type { History } from '../history/history.js';
import type { Invariant } from '../history/violation.js';
import { goodHistory } from './good-history.spec-helper.js';
import type { Editable } from './history.spec-helper.js';

/** By what is wrong with them. */
export type BadHistories = Readonly<Record<string, BadHistory>>;

/** A good history with one change that breaks one promise. */
export interface BadHistory {
  readonly rule: Invariant;
  /** The sentence that has to be said about it. */
  readonly says: RegExp;
  /** Left out: the good history with everything in it. */
  readonly of?: () => Editable<History>;
  change(parts: Parts): void;
}

export type Parts = ReturnType<typeof partsOf>;

/** What a change takes hold of, by the rig's name of the intent. */
export function partsOf(h: Editable<History>) {
  const must = <T>(found: T | undefined, what: string): T => {
    if (found === undefined) throw new Error(`the good history has no ${what}`);
    return found;
  };
  const lines = (ref: string, kind: string) => h.ledger.filter((l) => l.key === `key-${ref}` && l.kind === kind);
  return {
    h,
    row: (ref: string) =>
      must(
        h.database.intents.find(({ id }) => id === `id-${ref}`),
        ref,
      ),
    event: (ref: string, type: string, nth = 1) =>
      must(h.database.events.filter((e) => e.intentId === `id-${ref}` && e.type === type)[nth - 1], `${ref} ${type}`),
    line: (ref: string, kind: string, nth = 1) => must(lines(ref, kind)[nth - 1], `${ref} ${kind} ${nth}`),
    answer: (ref: string, nth = 1) =>
      must(h.clients.filter((c) => c.ref === ref && c.phase === 'answered')[nth - 1], `answer ${ref} ${nth}`),
    published: (ref: string, type: string) =>
      must(
        h.bus.published.find((p) => p.intentId === `id-${ref}` && p.type === `intendant.intent.${type}`),
        type,
      ),
    drop: <T>(list: T[], ...gone: T[]) => {
      for (const each of gone) list.splice(list.indexOf(each), 1);
    },
  };
}

/** An answer 202 about that intent. */
export function told(intentId: string | null) {
  const nothing = { code: null, outcome: null, replayed: false };
  return { answer: { ...nothing, httpStatus: 202, intentId, status: intentId === null ? null : 'unknown' } };
}

export const conflict = {
  answer: {
    ...{ httpStatus: 422, intentId: null, status: null, code: 'idempotency_conflict', outcome: null, replayed: false },
  },
};

/** A message in the stream. */
export function announced(ref: string, type: string, version: number) {
  const id = `id-${ref}`;
  return {
    ...{ msgId: `${id}-${version}`, intentId: id, version, stored: true, heard: 1 },
    ...{ type: `intendant.intent.${type}`, subject: `intendant.events.acme.run_1.${id}.${type}` },
  };
}

/** Changes what the tool of one intent promises, and of no other. */
export function promising(h: Editable<History>, ref: string, name: string, change: object): void {
  const promise = goodHistory().meta.tools[name];
  if (!promise) throw new Error(`the good history has no tool ${name}`);
  const own = `${name}.other`;
  h.meta.tools[own] = { ...promise, ...change };
  for (const row of h.database.intents) if (row.id === `id-${ref}`) row.tool = own;
  for (const { intentId, data } of h.database.events) {
    const proposal = data['proposal'] as { tool: string } | undefined;
    if (proposal && intentId === `id-${ref}`) proposal.tool = own;
  }
  for (const entry of h.clients) if (entry.ref === ref) entry.tool = own;
}
