import { defaultApproval, type Facts, mostDenied, type ToolDefinition } from '@intendant/contracts';
import { noHoldings } from '@intendant/intent';
import { toolAt } from '@intendant/testing';
import { describe, expect, test } from 'vitest';
import { rule, ruleAgain } from './admission.js';
import type { Call, Written } from './call.js';
import { demandsOf } from './demands.js';

const allowed: Written = { kind: 'allow', rule: 'reads', message: '', inputs: { 'args.n': 1 }, error: null };
const asks: Written = { ...allowed, kind: 'require_approval', rule: 'large', message: 'Over 10.00' };
const denies: Written = { ...allowed, kind: 'deny', rule: 'never', message: 'Never.' };
const required = { ...defaultApproval, required: true };
const similar = { fields: ['/to', '/amount'], windowMs: 60_000, mode: 'approve' } as const;

function call(over: Partial<Omit<Call, 'tool'>> & { readonly tool?: Partial<ToolDefinition> } = {}): Call {
  const { tool = {}, ...rest } = over;
  return {
    session: {
      ...{ tenant: 'acme', runId: 'run_1', user: 'ada', permissions: [], phase: null, profile: 'batch' },
      expiresAt: 1,
    },
    tool: toolAt('http://127.0.0.1:1', { tool: { name: 'mail.send', ...tool } }),
    permitted: { allowed: true },
    ...{ takes: noHoldings, fingerprint: 'f', sandbox: false, gist: null, identifiers: [], taintedBy: null, rates: [] },
    written: allowed,
    ...rest,
  };
}
const facts = (over: Partial<Facts> = {}): Facts => ({
  ...{ now: 100_000, run: null, holder: null, tokens: new Map(), alike: null, found: new Map() },
  ...{ refused: null, grants: [], open: [] },
  ...over,
});
const alike = { intentId: 'i0', runId: 'run_0', state: 'committed', at: 58_000 } as const;
const refused = { intentId: 'i9', by: 'olga', reason: 'not to strangers' };
const all = call({
  tool: { approval: required, similar, whenTainted: 'require_approval' },
  taintedBy: 'i1',
  written: asks,
});
const rulesOf = (of: Call, by: Facts | null) => demandsOf(of, by).map(({ rule: name }) => name);

describe('a person is asked', () => {
  test('by nobody, where nothing asks', () => {
    expect(demandsOf(call(), facts())).toEqual([]);
    const quiet = call({ tool: { similar: { ...similar, mode: 'shadow' }, whenTainted: 'allow' }, taintedBy: 'i1' });
    expect(demandsOf(quiet, facts({ alike }))).toEqual([]);
    expect(rule(call(), facts(), 'v')).toMatchObject({
      kind: 'record',
      ruling: { allow: true, reasons: { policy: 'v', rule: 'reads', inputs: { 'args.n': 1 } } },
    });
  });

  test('by the tool, the written rules, text from outside and likeness, each with its sentence', () => {
    expect(demandsOf(all, facts({ alike }))).toEqual([
      { rule: 'approval', message: 'mail.send always needs the approval of a person.' },
      { rule: 'large', message: 'Over 10.00.' },
      {
        rule: 'taint',
        message: 'The run has read text from outside (intent i1), and this may be what that text wanted.',
      },
      {
        rule: 'look_alike',
        message: 'It looks like intent i0, which is committed, of 42 s ago (same /to, /amount).',
      },
    ]);
  });

  test('about a likeness only once the facts are there', () => {
    expect(rulesOf(all, null)).toEqual(['approval', 'large', 'taint']);
    expect(rulesOf(all, facts())).toEqual(['approval', 'large', 'taint']);
  });

  test.each<[string, Call, Facts, string]>([
    ['the written rule, whatever else asks', all, facts({ alike }), 'large'],
    ['the tool', { ...all, written: allowed }, facts({ alike }), 'approval'],
    ['the taint', call({ tool: { whenTainted: 'require_approval' }, taintedBy: 'i1' }), facts(), 'taint'],
    ['the likeness', call({ tool: { similar } }), facts({ alike }), 'look_alike'],
  ])('and the decision names %s', (_, of, by, name) => {
    const verdict = rule(of, by, 'v');
    expect(verdict).toMatchObject({ kind: 'ask', reasons: { policy: 'v', rule: name, inputs: { 'args.n': 1 } } });
    if (verdict.kind !== 'ask') return;
    expect(verdict.demands).toEqual(demandsOf(of, by));
    expect(verdict.reasons.inputs['alike']).toBe(by.alike?.intentId);
  });
});

describe('nobody is asked about what', () => {
  const record = (code: string, name: string) => ({
    kind: 'record',
    ruling: { allow: false, failure: { code }, reasons: { rule: name } },
  });

  test.each<[string, Call, Facts, object]>([
    [
      'is not permitted',
      { ...all, permitted: { allowed: false, reason: 'no' } as unknown as Call['permitted'] },
      facts({ refused }),
      record('permission_denied', 'permission'),
    ],
    [
      'text from outside forbids',
      { ...all, tool: { ...all.tool, whenTainted: 'deny' } },
      facts({ refused }),
      record('rule_denied', 'taint'),
    ],
    [
      'people are asked already',
      all,
      facts({
        refused,
        open: [
          {
            ...{ intentId: 'i2', runId: 'run_1', state: 'awaiting_approval', tool: 'mail.send' },
            ...{ fingerprint: 'f', sandbox: false, gist: null },
          },
        ],
      }),
      { kind: 'turn_away', objection: { code: 'blocked_by_unknown', message: expect.stringContaining('waits for') } },
    ],
    [
      'was done already',
      all,
      facts({ refused, holder: { intentId: 'i2', runId: 'run_2', state: 'committed' } }),
      record('duplicate_business_operation', 'business_key'),
    ],
    ['was refused before', all, facts({ refused }), record('denied_before', 'refused_before')],
    [
      'was refused before, although it needs nobody now',
      call(),
      facts({ refused }),
      record('denied_before', 'refused_before'),
    ],
    ['a rule denies', { ...all, written: denies }, facts(), record('rule_denied', 'never')],
    [
      'is too fast',
      { ...all, rates: [{ id: 'r', perMs: 1, capacity: 1, title: '1/s' }] },
      facts({ tokens: new Map([['r', 0]]) }),
      { kind: 'turn_away', objection: { code: 'rate_limited' } },
    ],
  ])('%s', (_, of, by, expected) => {
    expect(rule(of, by, 'v')).toMatchObject(expected);
  });

  test('was refused before, and the answer says by whom, why, and that no wording helps', () => {
    expect(rule(all, facts({ refused }), 'v')).toMatchObject({
      ruling: {
        failure: {
          code: 'denied_before',
          message:
            'olga has refused this already (intent i9): not to strangers. Nobody was asked again and nothing was sent. Do not call mail.send for this any more, in whatever words.',
          details: { rule: 'refused_before', ...refused, wouldAllow: null },
        },
      },
    });
  });

  test('a denial too many is not recorded either', () => {
    const run = { denied: mostDenied } as NonNullable<Facts['run']>;
    expect(
      rule({ ...all, written: denies }, facts({ run: { ...run, budgets: noBudgets, used: noHoldings } }), 'v'),
    ).toMatchObject({
      kind: 'turn_away',
      objection: { code: 'budget_exhausted', rule: 'denials' },
    });
  });
});

const noBudgets = { calls: null, mutating: null, destructive: null, costMicros: null };

describe('what people are asked about already, judged again', () => {
  const likeness = { rule: 'look_alike', message: 'It looks like intent i0.' };
  const earlier = [{ rule: 'large', message: 'Over 10.00.' }, likeness];
  const again = (of: Call, before = earlier) => ruleAgain(of, before, 'v2');

  test('is denied by what denies now, as if it came now', () => {
    const denied = { allow: false, failure: { code: 'rule_denied' }, reasons: { policy: 'v2', rule: 'never' } };
    expect(again(call({ written: denies }))).toMatchObject(denied);
    expect(again(call({ written: denies }))).toEqual(
      (rule(call({ written: denies }), facts(), 'v2') as { ruling: unknown }).ruling,
    );
    expect(again(call({ tool: { whenTainted: 'deny' }, taintedBy: 'i1' }))).toMatchObject({
      allow: false,
      failure: { code: 'rule_denied', details: { rule: 'taint' } },
    });
  });

  test('is asked about by what asks now, beside what was found in other calls then', () => {
    const now = { ...asks, message: 'Over 20.00' };
    expect(again(call({ written: now }))).toEqual({
      allow: 'approved',
      demands: [{ rule: 'large', message: 'Over 20.00.' }, likeness],
      reasons: { policy: 'v2', rule: 'large', inputs: { 'args.n': 1 } },
    });
    expect(again({ ...all, written: allowed }, [])).toMatchObject({
      demands: [{ rule: 'approval' }, { rule: 'taint' }],
      reasons: { rule: 'approval' },
    });
    const grant = { rule: 'grant', message: 'The grant g1 is over.' };
    expect(again(call({ written: asks }), [grant])).toMatchObject({ demands: [{ rule: 'large' }, grant] });
  });

  test('stays a question where nothing asks any more, and says so', () => {
    expect(again(call(), [{ rule: 'large', message: 'Over 10.00.' }])).toMatchObject({
      allow: 'approved',
      demands: [
        {
          rule: 'asked_before',
          message: 'No rule asks for this any more since the policy files changed; it was asked about before.',
        },
      ],
      reasons: { rule: 'asked_before' },
    });
  });
});
