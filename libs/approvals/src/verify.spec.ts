import { ApprovalSeals } from '@intendant/credentials';
import { type ApprovalRequest, type Approvals, type Command, decide, evolve, type Intent } from '@intendant/intent';
import { describe, expect, test } from 'vitest';
import { askedFor, proposal, question, tool } from './approvals.spec-helper.js';
import { newRequest } from './request.js';
import { type Circumstances, verify } from './verify.js';

const secret = 'approval-secret-of-this-spec-0123456789';
const seals = new ApprovalSeals(secret);
const request = newRequest(question, seals);
const now: Circumstances = { tool: tool(), policy: 'policy-1', nonce: 'nonce-2' };
const look = (approvals: Approvals, circumstances: Partial<Circumstances> = {}, over: object = {}, by = seals) =>
  verify({ proposal: { ...proposal, ...over }, approvals, version: 3 }, { ...now, ...circumstances }, by);

describe('what people have agreed to', () => {
  test('is what would be sent where nothing has changed', () => {
    const found = { version: 3, matching: [request.digest], differs: [], renewed: null };
    expect(look(askedFor(request))).toEqual(found);
    expect(look(askedFor(JSON.parse(JSON.stringify(request))))).toEqual(found);
  });

  test.each<[string, Partial<Circumstances>, string[]]>([
    ['tool file', { tool: tool({ fileDigest: 'other' }) }, ['the tool file of payments.refund.create']],
    ['policy', { policy: 'policy-2' }, ['the policy files']],
    [
      'both',
      { tool: tool({ fileDigest: 'other' }), policy: 'policy-2' },
      ['the tool file of payments.refund.create', 'the policy files'],
    ],
    ['wording', { tool: tool({}, { view: 'Send {{amount_cents}}' }) }, ['what the action says']],
  ])('is not with another %s, and it is asked about as it is now', (_, changed, differs) => {
    const found = look(askedFor(request), changed);
    expect(found).toMatchObject({ version: 3, matching: [], differs });
    const { tool: of, policy } = { ...now, ...changed };
    expect(found.renewed).toMatchObject({ policy, toolFile: of.fileDigest, nonce: 'nonce-2' });
    expect(look(askedFor(request, found.renewed as ApprovalRequest), changed)).toMatchObject({
      matching: [found.renewed?.digest],
      differs: [],
      renewed: null,
    });
  });

  test('is not where the record was tampered with', () => {
    const tampered = [
      look(askedFor({ ...request, quorum: 1 })),
      look(askedFor({ ...request, expiresAt: 2_000 })),
      look(askedFor({ ...request, selfApproval: true })),
      look(askedFor(request), {}, { args: { ...proposal.args, note: 'more' } }),
      look(askedFor(request), {}, { key: 'another' }),
      look(askedFor({ ...request, digest: seals.seal('something else') })),
    ];
    for (const { matching, differs, renewed } of tampered) {
      expect([matching, differs]).toEqual([[], ['the record of what was asked, or the key that it is sealed with']]);
      expect(renewed?.quorum).toBe(2);
    }
  });

  test.each<[string, Partial<ApprovalRequest>, string]>([
    ['another view', { view: 'Do nothing' }, 'what the action says'],
    ['another impact', { impact: 'Nothing' }, 'the record of what was asked, or the key that it is sealed with'],
    ['no impact', { impact: null }, 'the record of what was asked, or the key that it is sealed with'],
    ['another policy', { policy: 'policy-0' }, 'the policy files'],
    ['another tool file', { toolFile: 'other' }, 'the tool file of payments.refund.create'],
  ])('is not where people were shown %s than what was sealed, though all is as it was', (_, shown, differs) => {
    expect(look(askedFor({ ...request, ...shown }))).toMatchObject({ matching: [], differs: [differs] });
  });

  test('stays that when the key is changed, as long as the one of before is known', () => {
    const next = 'another-approval-secret-0123456789abcdef';
    expect(look(askedFor(request), {}, {}, new ApprovalSeals(next, [secret])).matching).toEqual([request.digest]);
    const { matching, renewed } = look(askedFor(request), {}, {}, new ApprovalSeals(next));
    expect(matching).toEqual([]);
    expect(look(askedFor(request, renewed as ApprovalRequest), {}, {}, new ApprovalSeals(next)).matching).toEqual([
      renewed?.digest,
    ]);
  });
});

/** An intent that was asked about, on the way through the domain; `at`: a version of tool and policy files. */
class Asked {
  private intent: Intent;
  private attempts = 0;
  private readonly versions = new Map<string, Partial<Circumstances>>();

  constructor() {
    const events = [
      { type: 'recorded', proposal: { ...proposal, expiresAt: 10_000 } },
      { type: 'approval_requested', request: newRequest({ ...question, expiresAt: 10_000 }, seals) },
    ] as const;
    this.intent = evolve(evolve(null, events[0], 0), events[1], 0);
    this.versions.set('a', {});
    for (const name of ['b', 'c']) this.versions.set(name, { tool: tool({ fileDigest: name }), policy: name });
  }

  /** Two people agree to what is asked now. */
  agree(): this {
    const digest = this.requests.at(-1)?.digest ?? '';
    for (const name of ['olga', 'pete']) {
      const approver = { name, roles: ['approver', 'operator'], groups: ['payments'] };
      this.execute({ type: 'approve', approver, digest });
    }
    return this;
  }

  /** The policy service of the version that asks says the same as the one of before. */
  judge(): this {
    const newest = this.requests.at(-1) as ApprovalRequest;
    const { proposal: of } = this.intent;
    const { policy, nonce } = newest;
    const { tool: its = now.tool } = this.versions.get(policy) ?? {};
    const { demands, expiresAt, alike } = newest;
    const judged = { proposal: of, tool: its, policy, demands, expiresAt, alike, nonce: `${nonce}, judged` };
    const request = newRequest(judged, seals);
    this.execute({ type: 'judge_again', of: newest.digest, ruling: { allow: 'approved', request } });
    return this;
  }

  /** A dispatcher of that version looks at it, and sends it if it may. */
  start(at: string): Intent['state'] {
    this.attempts += 1;
    const { proposal: of, version, approvals } = this.intent;
    const circumstances = { ...now, ...this.versions.get(at), nonce: `${at}-${this.attempts}` };
    const verified = verify({ proposal: of, version, approvals: approvals as Approvals }, circumstances, seals);
    this.execute({ type: 'start_attempt', attemptId: `${this.attempts}`, verified });
    return this.intent.state;
  }

  get requests(): readonly ApprovalRequest[] {
    return this.intent.approvals?.requests ?? [];
  }

  /** Of what is asked. */
  get policies(): string[] {
    return this.requests.map(({ policy }) => policy);
  }

  private execute(command: Command): void {
    const decision = decide(command, this.intent, 100);
    if (decision.kind !== 'accepted') return;
    for (const event of decision.events) this.intent = evolve(this.intent, event, 100);
  }
}

describe('versions that take turns', () => {
  test('ask once each, however often they look', () => {
    const asked = new Asked().agree();
    for (let turn = 0; turn < 10; turn += 1) {
      for (const at of ['b', 'c']) expect(asked.start(at)).toBe('awaiting_approval');
    }
    expect(asked.policies).toEqual(['policy-1', 'b', 'c']);
    expect(
      asked.requests.map(({ judged }) => judged),
      'no dispatcher knows the rules',
    ).toEqual(Array(3).fill('policy-1'));
    expect(asked.start('a'), 'the given approval is still one for what it was given for').toBe('dispatching');
  });

  test('ask again what they had asked where people have agreed to another meanwhile', () => {
    const asked = new Asked();
    expect(asked.start('b')).toBe('awaiting_approval');
    for (let turn = 0; turn < 5; turn += 1) {
      for (const at of ['a', 'b']) asked.start(at);
    }
    expect(asked.policies).toEqual(['policy-1', 'b']);
    asked.agree();
    expect(asked.start('a'), 'nobody can agree to what its own rules have not seen').toBe('awaiting_approval');
    asked.judge().agree();
    expect(asked.start('a')).toBe('awaiting_approval');
    expect(asked.policies).toEqual(['b', 'b', 'policy-1']);
    asked.agree();
    expect(asked.start('a')).toBe('dispatching');
  });
});
