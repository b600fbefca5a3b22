import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fingerprint, intentKey } from './key.js';
import type { ToolIntentMessage } from './tool-intent.js';

const session = { tenant: 'acme', runId: 'run_1' };

function message(change: Partial<ToolIntentMessage> = {}): ToolIntentMessage {
  return { tool: 'orders.get', args: { a: 1, b: 2 }, stepId: 's1', toolVersion: null, sandbox: false, ...change };
}

function keyOf(change: Partial<ToolIntentMessage> = {}, by = session): string {
  const proposal = message(change);
  return intentKey(by, proposal, proposal.args);
}

describe('the key of an intent', () => {
  test('is a sha256 in base64url that never changes', () => {
    expect(keyOf()).toBe('BnPFd56bmglquBA1Vwrcb301zgyDAuB0R2E7n5l540Q');
    expect(keyOf({ stepId: null })).toBe('zDZrDtP1IwJtBU-S5dGr9RQdXFyD8GpTNvLg5II0svY');
  });

  test('of a sandbox call is never that of the real one', () => {
    expect(keyOf({ sandbox: true })).not.toBe(keyOf());
    expect(keyOf({ sandbox: true, stepId: null })).not.toBe(keyOf({ stepId: null }));
    expect(keyOf({ sandbox: true })).not.toBe(keyOf({ stepId: 'sandbox' }));
  });

  test('with a step, does not depend on the arguments or the version', () => {
    expect(keyOf({ args: { z: 1 }, toolVersion: 2 })).toBe(keyOf());
  });

  test('without a step, depends on the canonical arguments only', () => {
    expect(keyOf({ stepId: null, args: { b: 2, a: 1 } })).toBe(keyOf({ stepId: null }));
    expect(keyOf({ stepId: null, args: { b: 2, a: 3 } })).not.toBe(keyOf({ stepId: null }));
  });

  test('differs by tenant, run, step and tool', () => {
    const keys = [
      keyOf(),
      keyOf({}, { ...session, tenant: 'other' }),
      keyOf({}, { ...session, runId: 'run_2' }),
      keyOf({ stepId: 's2' }),
      keyOf({ tool: 'orders.list' }),
      keyOf({ stepId: null }),
      keyOf({ stepId: 'args' }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('keeps its parts apart: moving characters between them makes another key', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), fc.string(), (tenant, runId, stepId, tool) => {
        const key = keyOf({ stepId, tool }, { tenant, runId });
        expect(keyOf({ stepId: `${stepId}${tool}`, tool: '' }, { tenant, runId }) === key).toBe(tool === '');
        expect(keyOf({ stepId, tool }, { tenant: `${tenant}${runId}`, runId: '' }) === key).toBe(runId === '');
      }),
    );
  });
});

describe('the fingerprint', () => {
  test('is the sha256 of the canonical arguments', () => {
    // echo -n '{"a":1,"b":2}' | sha256sum
    expect(fingerprint({ b: 2, a: 1 })).toBe('43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777');
  });

  test('does not depend on the order of fields', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }), (args) => {
        const turned = Object.fromEntries(Object.entries(args).toReversed());
        expect(fingerprint(turned as never)).toBe(fingerprint(args as never));
      }),
    );
  });
});
