import { defaultApproval, type ToolDefinition } from '@intendant/contracts';
import type { Terms } from '@intendant/intent';

export const kinds = ['keyed', 'keyonly', 'conditional', 'searched', 'blind', 'accepted', 'read'] as const;
export type Kind = (typeof kinds)[number];

/** How long the upstream may work on a request that it got, in ms; less than the settle time of the tools. */
export const maxProcessingMs = 1_000;
export const callMs = 500;

const base: Terms = {
  effect: 'write',
  guarantee: 'idempotency_key',
  lookup: 'authoritative',
  maxAttempts: 3,
  // The tolerance of the clocks is a second of it, and a call another half.
  leaseMs: 3_000,
  settleMs: 1_500,
  spacingMs: 200,
  retentionMs: 86_400_000,
  deadlineMs: 20_000,
  backoffMs: 100,
  poll: null,
};

const terms: Readonly<Record<Kind, Terms>> = {
  keyed: base,
  keyonly: { ...base, lookup: 'none' },
  conditional: { ...base, guarantee: 'conditional_create' },
  searched: { ...base, guarantee: 'lookup', retentionMs: 0 },
  blind: { ...base, guarantee: 'none', lookup: 'none', retentionMs: 0 },
  accepted: { ...base, poll: { everyMs: 300, deadlineMs: 20_000 } },
  read: { ...base, effect: 'read', guarantee: 'none', lookup: 'none', retentionMs: 0 },
};

/** One tool per promise of an upstream; the upstream itself is not in it. */
export const tools: readonly ToolDefinition[] = kinds.map((kind) => ({
  name: `race.${kind}`,
  version: 1,
  description: 'Acts.',
  effect: terms[kind].effect,
  reversible: null,
  permission: 'race:act',
  phases: null,
  input: { type: 'object', required: ['ref'], properties: { ref: { type: 'string' }, amount: { type: 'integer' } } },
  output: null,
  inject: {},
  limits: { connectMs: 500, callMs, noticeMs: null, concurrency: 4, rate: null, cost: null },
  businessKey: null,
  similar: null,
  identifiers: [],
  whenTainted: 'allow',
  approval: defaultApproval,
  terms: terms[kind],
  upstream: {
    kind: 'module',
    name: 'race',
    concurrency: 4,
    outcomes: [],
    credential: null,
    path: '/nowhere',
    lookup: terms[kind].lookup === 'none' ? null : {},
    poll: terms[kind].poll ? {} : null,
  },
  sandbox: null,
  contract: {},
  contractDigest: '0'.repeat(64),
  fileDigest: '0'.repeat(64),
  file: `race.${kind}.tool.yaml`,
}));
