import type { Guarantee, LookupAuthority, Terms } from '@intendant/intent';
import type { Bounds } from './world.js';

/** Round numbers, as small as their order allows: a settle time has room for processing, lag and skew. */
const terms: Terms = {
  effect: 'write',
  guarantee: 'lookup',
  lookup: 'authoritative',
  maxAttempts: 3,
  leaseMs: 3,
  settleMs: 3,
  spacingMs: 1,
  retentionMs: 0,
  deadlineMs: 3,
  backoffMs: 1,
};

const plain: Omit<Bounds, 'name'> = {
  terms,
  expiresAt: 20,
  horizon: 6,
  attempts: 2,
  processing: 1,
  lookupLag: 1,
  skew: 1,
  declared: 'kept',
  cancels: false,
  resolves: false,
  replays: 0,
  promises: false,
};

/** Of each guarantee, its lookups that differ in what may follow; keys are forgotten soon after a resend is allowed at the earliest. */
const kinds: Readonly<
  Record<Guarantee, readonly { readonly lookup: LookupAuthority; readonly retentionMs: number }[]>
> = {
  // With an authoritative lookup it goes by the same rules as `conditional_create`.
  idempotency_key: [
    { lookup: 'none', retentionMs: 7 },
    { lookup: 'presence_only', retentionMs: 7 },
  ],
  conditional_create: [{ lookup: 'authoritative', retentionMs: 8 }],
  lookup: [{ lookup: 'authoritative', retentionMs: 0 }],
  none: [{ lookup: 'authoritative', retentionMs: 0 }],
};

type Variant = Partial<Omit<Bounds, 'terms'>> & { readonly name: string; readonly terms?: Partial<Terms> };

const shortVariants: readonly Variant[] = [
  { name: 'all that is declared is kept' },
  { name: 'effects come at any time', declared: 'overdue', skew: 0, lookupLag: 0 },
  { name: 'senders are stopped beyond their lease', declared: 'stopped', skew: 0, lookupLag: 0 },
];

const longVariants: readonly Variant[] = [
  { name: 'all that is declared is kept', horizon: 8 },
  { name: 'cancelled at any time, authority that ends', horizon: 7, cancels: true, expiresAt: 6 },
  {
    name: 'three attempts, no clock is off',
    horizon: 7,
    attempts: 3,
    skew: 0,
    lookupLag: 0,
    terms: { settleMs: 2, leaseMs: 2 },
  },
  {
    name: 'replayed and resolved by people',
    horizon: 7,
    skew: 0,
    lookupLag: 0,
    replays: 1,
    resolves: true,
    terms: { settleMs: 2, leaseMs: 2, deadlineMs: 1 },
  },
  { name: 'accepted for later', horizon: 7, skew: 0, promises: true },
  { name: 'effects come at any time', horizon: 7, declared: 'overdue', skew: 0, lookupLag: 0 },
  { name: 'senders are stopped beyond their lease', horizon: 7, declared: 'stopped', skew: 0, lookupLag: 0 },
];

/** What is explored for a guarantee; each is explored to its end. */
export function boundsOf(guarantee: Guarantee, short: boolean): readonly Bounds[] {
  return (short ? shortVariants : longVariants).flatMap((variant) =>
    kinds[guarantee].map(({ lookup, retentionMs }) => ({
      ...plain,
      ...variant,
      name: `${short ? 'short' : 'long'}: ${guarantee}, lookup ${lookup}, ${variant.name}`,
      terms: { ...terms, ...variant.terms, guarantee, lookup, retentionMs },
    })),
  );
}
