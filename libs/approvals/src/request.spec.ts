import { createHmac } from 'node:crypto';
import type { ApprovalRequest, Json, Preview, Proposal } from '@intendant/intent';
import { canonical } from '@intendant/tools';
import { describe, expect, test } from 'vitest';
import { proposal, question, tool } from './approvals.spec-helper.js';
import { boundText, newRequest, renewed, type Seals } from './request.js';

const seals: Seals = {
  seal: (text) => createHmac('sha256', 'key').update(text).digest('base64url'),
  fits: (digest, text) => digest === createHmac('sha256', 'key').update(text).digest('base64url'),
};
const shown: Preview = { kind: 'shown', before: { a: 1 }, after: { a: 2 }, token: 'W/"7"', kept: 'by_upstream' };
const request = newRequest({ ...question, preview: shown }, seals);
const fits = (of: Proposal, asked: ApprovalRequest) => seals.fits(request.digest, boundText(of, asked));

/**
 * Whether an agreement is about it. What it is not about is fixed by something that it is about (`contractDigest` and
 * `toolFile`: terms; `key` and `args`: fingerprint), or makes no difference to what is done.
 */
const isBound: Record<keyof Required<Proposal>, boolean> = {
  ...{ intentId: true, tenant: true, runId: true, user: true, stepId: true, tool: true, toolVersion: true },
  ...{ contractDigest: true, args: true, injected: true, key: true, sandbox: true },
  ...{ dropped: false, fingerprint: false, terms: false, expiresAt: false, traceparent: false, cost: false },
  ...{ operation: false, likeness: false, phase: false, taintedBy: false, gist: false, grant: false },
};

/** Other values in the place of this one, and of each thing in it. */
function others(value: Json): Json[] {
  if (value === null) return ['something', false, 0];
  if (typeof value === 'boolean') return [!value, null];
  if (typeof value === 'number') return [value + 1, `${value}`, null];
  if (typeof value === 'string') return [`${value} `, '', null];
  if (Array.isArray(value)) {
    const items: readonly Json[] = value;
    const changed = items.flatMap((item, at) => others(item).map((other) => items.with(at, other)));
    return [[...items, 'more'], items.slice(1), null, ...changed].filter((each) => !same(each, value));
  }
  const object = value as Readonly<Record<string, Json>>;
  const changed = Object.entries(object).flatMap(([field, each]) => [
    ...others(each).map((other) => ({ ...object, [field]: other })),
    Object.fromEntries(Object.entries(object).filter(([name]) => name !== field)),
  ]);
  return [{ ...object, more: 1 }, null, ...changed];
}
const same = (one: Json, other: Json) => canonical(one) === canonical(other);

describe('an agreement', () => {
  test('is about what was asked', () => {
    expect(fits(proposal, request)).toBe(true);
    expect(fits(proposal, JSON.parse(JSON.stringify(request))), 'as it comes from the log').toBe(true);
    const turned = Object.fromEntries(Object.entries(request).toReversed()) as unknown as ApprovalRequest;
    expect(fits(proposal, turned), 'whatever the order of the fields').toBe(true);
  });

  test('has every field of a proposal looked at here', () => {
    expect(Object.keys(proposal).toSorted()).toEqual(Object.keys(isBound).toSorted());
  });

  test.each(Object.entries(isBound))('is about %s of the intent: %s', (field, bound) => {
    const value = proposal[field as keyof Proposal] as unknown as Json;
    const changes = others(value);
    expect(changes.length).toBeGreaterThan(1);
    for (const other of changes) {
      const changed = { ...proposal, [field]: other } as Proposal;
      expect(fits(changed, request), `${field}: ${JSON.stringify(other)}`).toBe(!bound);
    }
    const { [field as keyof Proposal]: _, ...without } = proposal;
    if (bound) expect(fits(without as Proposal, request), `without ${field}`).toBe(false);
  });

  test.each(Object.keys(request).filter((field) => field !== 'digest'))('is about %s of the request', (field) => {
    const value = request[field as keyof ApprovalRequest] as unknown as Json;
    for (const other of others(value)) {
      const changed = { ...request, [field]: other } as ApprovalRequest;
      expect(fits(proposal, changed), `${field}: ${JSON.stringify(other)}`).toBe(false);
    }
    const { [field as keyof ApprovalRequest]: _, ...without } = request;
    expect(fits(proposal, without as ApprovalRequest), `without ${field}`).toBe(false);
  });

  test('is about no more and no less than a request holds', () => {
    expect(fits(proposal, { ...request, more: true } as ApprovalRequest)).toBe(false);
    expect(fits(proposal, { ...request, digest: 'another' }), 'its own digest cannot be in it').toBe(true);
  });

  test.each<[string, Preview]>([
    ['not there yet', { kind: 'asked' }],
    ['failed', { kind: 'failed', needed: false, detail: 'http_503' }],
    ['with another token', { ...shown, token: 'W/"8"' }],
    ['with a number as its token', { ...shown, token: 7 }],
    ['kept in another way', { ...shown, kept: 'not_kept' }],
  ])('is about the preview that was shown: one that is %s is another', (_, preview) => {
    expect(fits(proposal, { ...request, preview })).toBe(false);
  });
});

describe('a request', () => {
  test('says what is done, by the tool file and the real values', () => {
    expect(newRequest(question, seals)).toEqual({
      ...{
        nonce: 'nonce-1',
        policy: 'policy-1',
        judged: 'policy-1',
        demands: question.demands,
        expiresAt: 1_000,
        alike: 'i1',
      },
      ...{ quorum: 2, roles: ['operator'], groups: ['payments'], selfApproval: false, redact: ['/card'] },
      ...{ remember: 'tenant', undo: 'Charge it.', reversible: true, toolFile: tool().fileDigest, preview: null },
      view: 'Refund 2499 of ord_1 to ada',
      impact: 'Money of ada',
      digest: expect.any(String),
    });
  });

  test('has another digest for each nonce', () => {
    expect(newRequest({ ...question, nonce: 'nonce-2' }, seals).digest).not.toBe(newRequest(question, seals).digest);
  });

  test('that comes in place of another keeps why, until when and beside what it is asked', () => {
    const now = { proposal, tool: tool({ fileDigest: 'other' }, { quorum: 1 }), policy: 'policy-2', nonce: 'nonce-2' };
    const { digest, ...next } = renewed(request, now, seals);
    expect(digest).not.toBe(request.digest);
    const kept = { demands: request.demands, expiresAt: request.expiresAt, alike: request.alike };
    expect(next).toMatchObject({
      ...kept,
      policy: 'policy-2',
      judged: 'policy-1',
      toolFile: 'other',
      quorum: 1,
      preview: null,
    });
  });
});
