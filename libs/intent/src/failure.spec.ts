import { describe, expect, it } from 'vitest';
import { failureOf } from './failure.js';
import { sending } from './given.spec-helper.js';
import { keyed, read } from './samples.spec-helper.js';
import type { Terms } from './terms.js';

function codeOf(cause: string, terms: Terms = keyed): string {
  const { intent } = sending(terms);
  if (!intent) throw new Error('no intent');
  return failureOf(cause, 'said why', intent).code;
}

describe('the failure an agent reads', () => {
  it.each(['http_400', 'http_403', 'http_422', 'http_308', 'http_501'])('is a refusal for %s', (cause) => {
    expect(codeOf(cause)).toBe('upstream_rejected');
  });

  it.each(['http_429', 'http_503', 'http_521', 'http_530', 'connect_refused', 'dns'])(
    'is an absent upstream for %s',
    (cause) => {
      expect(codeOf(cause)).toBe('upstream_unavailable');
    },
  );

  it('is a broken promise of the tool when its answer has the wrong shape', () => {
    expect(codeOf('output_invalid', read)).toBe('output_invalid');
  });

  it('is a timeout only for a read', () => {
    expect(codeOf('call_timeout', read)).toBe('tool_timeout');
    expect(codeOf('connect_timeout')).toBe('upstream_unavailable');
  });

  it('is a refusal, to be mended by other arguments, when no request could be built', () => {
    const { intent } = sending();
    if (!intent) throw new Error('no intent');
    const failure = failureOf('request_mapping', '{{note}} has no value', intent);
    expect(failure.code).toBe('upstream_rejected');
    expect(failure.message).toBe(
      "The request of payments.refund.create could not be built from the arguments: {{note}} has no value. Nothing was sent and nothing happened. Correct the arguments under a new step, or tell the tool's owner.",
    );
    expect(failure.details).toEqual({ cause: 'request_mapping', attempts: 1 });
  });

  it('names the tool, the cause and the number of attempts', () => {
    const { intent } = sending();
    if (!intent) throw new Error('no intent');
    expect(failureOf('http_422', 'amount too high', intent)).toEqual({
      code: 'upstream_rejected',
      message: 'payments.refund.create was refused by its upstream (http_422): amount too high. Nothing happened.',
      details: { cause: 'http_422', attempts: 1 },
    });
  });
});
