import type { Proposal, Terms } from '@intendant/intent';

/** The one request that a model is about; only its terms and the end of its authority matter to the rules. */
export function proposalOf(terms: Terms, expiresAt: number): Proposal {
  return {
    intentId: 'the-intent',
    tenant: 'acme',
    runId: 'the-run',
    user: 'ann',
    stepId: 's1',
    tool: 'model.act',
    toolVersion: 1,
    contractDigest: 'digest',
    args: {},
    injected: {},
    dropped: [],
    key: 'the-key',
    fingerprint: 'args',
    sandbox: false,
    terms,
    expiresAt,
    traceparent: null,
  };
}
