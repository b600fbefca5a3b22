import type { JsonObject } from './json.js';

/** Something that can be created by POST. */
export interface Resource {
  /** What the ledger calls it. */
  readonly name: string;
  /**
   * What a repeat under the same `Idempotency-Key` is: `answered` from the first, `refused` with 409 and the first answer
   * as `original`, or `new`, because the key is not looked at.
   */
  readonly repeat: 'answered' | 'refused' | 'new';
  /** Query parameter by which GET finds what a key created; null: no such question can be asked. */
  readonly lookupBy: string | null;
  /** What is wrong with the body, or null. */
  refuse(body: JsonObject): string | null;
  /** Body of the answer 201. */
  answer(body: JsonObject, externalId: string): JsonObject;
  /** First letters of its identifiers. */
  readonly prefix: string;
}

const ORDER_ID = /^ord_[A-Za-z0-9]+$/;
/** Generic effects, by what becomes of a repeat. */
const EFFECT_PATH = /^\/(effects|once|plain)\/([A-Za-z0-9._-]+)$/;
const REPEATS = { effects: 'answered', once: 'refused', plain: 'new' } as const;

function missing(body: JsonObject, ...fields: string[]): string | null {
  const absent = fields.filter((field) => typeof body[field] !== 'string' || body[field] === '');
  return absent.length === 0 ? null : `${absent.join(', ')}: a non-empty string is expected`;
}

export const refunds: Resource = {
  name: 'refund',
  prefix: 're',
  repeat: 'answered',
  lookupBy: 'key',
  refuse({ order_id, amount_cents }) {
    if (typeof order_id !== 'string' || !ORDER_ID.test(order_id)) return 'order_id: no such order';
    if (!Number.isInteger(amount_cents) || Number(amount_cents) < 1) return 'amount_cents: at least 1 is expected';
    return null;
  },
  answer: ({ order_id, amount_cents }, refund_id) => ({ refund_id, order_id, amount_cents }),
};

const mails: Resource = {
  name: 'mail',
  prefix: 'msg',
  repeat: 'new',
  lookupBy: 'reference',
  refuse: (body) => missing(body, 'to', 'subject', 'text'),
  answer: ({ to, subject }, message_id) => ({ message_id, to, subject }),
};

const tickets: Resource = {
  name: 'ticket',
  prefix: 'tkt',
  repeat: 'new',
  lookupBy: null,
  refuse: (body) => missing(body, 'title'),
  answer: (_body, ticket_id) => ({ ticket_id }),
};

function effects(name: string, repeat: Resource['repeat']): Resource {
  return {
    name,
    prefix: 'eff',
    repeat,
    lookupBy: 'key',
    refuse: () => null,
    answer: (_body, effect_id) => ({ effect_id, name }),
  };
}

const BY_PATH = new Map([
  ['/refunds', refunds],
  ['/mails', mails],
  ['/legacy/tickets', tickets],
]);

export function findResource(path: string): Resource | undefined {
  const [, kind, name] = EFFECT_PATH.exec(path) ?? [];
  return name === undefined ? BY_PATH.get(path) : effects(name, REPEATS[kind as keyof typeof REPEATS]);
}

/** An order as GET shows it, or undefined: every well-formed id is an order here. */
export function findOrder(path: string): JsonObject | undefined {
  const id = path.startsWith('/orders/') ? path.slice('/orders/'.length) : '';
  if (!ORDER_ID.test(id)) return undefined;
  return { order_id: id, amount_cents: 2499, currency: 'EUR', email: `${id.slice(4).toLowerCase()}@customer.example` };
}
