import { describe, expect, it } from 'vitest';
import { failureOf } from './failure.js';
import { sending } from './given.spec-helper.js';
import { keyed, read } from './samples.spec-helper.js';
import type { Terms } from './terms.js';

function codeOf(cause: string, transient: boolean, terms: Terms = keyed): string {
  const { intent } = sending(terms);
  if (!intent) throw new Error('no intent');
  return failureOf(cause, 'said why', transient, intent).code;
}

describe('the failure an agent reads', () => {
  it.each(['http_400', 'http_308', 'http_501', 'exit_64', 'rpc_-32601', 'refused_by_module'])(
    'is a refusal for %s, which trying again would not change',
    (cause) => {
      expect(codeOf(cause, false)).toBe('upstream_rejected');
    },
  );

  it.each(['http_429', 'http_502', 'http_503', 'http_530', 'exit_75', 'connect_refused', 'credential_unavailable'])(
    'is an absent upstream for %s that may pass',
    (cause) => {
      expect(codeOf(cause, true)).toBe('upstream_unavailable');
      expect(codeOf(cause, true, read)).toBe('upstream_unavailable');
    },
  );

  it.each(['egress_refused', 'no_sandbox', 'tls_failed'])('is no invitation to try again for %s', (cause) => {
    expect(codeOf(cause, false)).toBe('upstream_rejected');
  });

  it('is a broken promise of the tool when its answer has the wrong shape', () => {
    const { intent } = sending();
    if (!intent) throw new Error('no intent');
    expect(failureOf('output_invalid', 'id is missing', false, intent)).toMatchObject({
      code: 'output_invalid',
      message: expect.stringMatching(
        /not in the shape it declares: id is missing\. It only reads, so nothing was changed/,
      ),
    });
  });

  it('is a timeout only for a read', () => {
    expect(codeOf('call_timeout', true, read)).toBe('tool_timeout');
    expect(codeOf('connect_timeout', true)).toBe('upstream_unavailable');
  });

  it('is a refusal, to be mended by other arguments, when no request could be built', () => {
    const { intent } = sending();
    if (!intent) throw new Error('no intent');
    const failure = failureOf('request_mapping', '{{note}} has no value', false, intent);
    expect(failure.code).toBe('upstream_rejected');
    expect(failure.message).toBe(
      "The request of payments.refund.create could not be built from the arguments: {{note}} has no value. Nothing was sent and nothing happened. Correct the arguments under a new step, or tell the tool's owner.",
    );
    expect(failure.details).toEqual({ cause: 'request_mapping', attempts: 1 });
  });

  it.each([
    ['request_mapping', false, keyed, 'Correct the arguments under a new step, or', 'Correct the arguments, or'],
    ['state_changed', false, keyed, 'and propose it under a new step; a', 'and propose it again; a'],
    ['connect_refused', true, keyed, 'try again later under a new step.', 'try again later.'],
    ['call_timeout', true, read, 'try again later under a new step.', 'try again later.'],
  ])('for %s speaks of a new step only to a caller that has steps', (cause, transient, terms, withStep, without) => {
    const { intent } = sending(terms);
    if (!intent) throw new Error('no intent');
    const told = (stepId: string | null) =>
      failureOf(cause, 'said why', transient, { ...intent, proposal: { ...intent.proposal, stepId } }).message;
    expect(told('s1')).toContain(withStep);
    expect(told(null)).toContain(without);
    expect(told(null)).not.toContain('step');
  });

  it('names the tool, the cause and the number of attempts', () => {
    const { intent } = sending();
    if (!intent) throw new Error('no intent');
    expect(failureOf('http_422', 'amount too high', false, intent)).toEqual({
      code: 'upstream_rejected',
      message: 'payments.refund.create was refused by its upstream (http_422): amount too high. Nothing happened.',
      details: { cause: 'http_422', attempts: 1 },
    });
  });
});
