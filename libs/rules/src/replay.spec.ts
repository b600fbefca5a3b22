import { approvalOfAPerson, type RecordedDecision } from '@intendant/contracts';
import { describe, expect, test } from 'vitest';
import { policies } from './policy.spec-helper.js';
import type { PolicySet } from './policy-set.js';
import { opened, RecordedRun, stamp } from './recorded-run.spec-helper.js';
import { type Candidate, type Replayed, replay } from './replay.js';

const tool = { name: 'payments.refund.create', version: 1, permission: 'payments:refund', reversible: null };
const tools: Candidate['tools'] = [
  tool,
  { ...tool, name: 'payments.refund.find' },
  { ...tool, name: 'mail.message.send' },
];
const none = policies({});
const rule = (when: string | null, then = 'deny', more = {}) =>
  policies({ rules: [{ name: 'new', ...(when !== null && { when }), then, message: 'No.', ...more }] });
const large = rule('args.n > 10');

/** In the order of the decisions. */
function outcomes(set: PolicySet, decisions: readonly RecordedDecision[], from = opened, loaded = tools): Replayed[] {
  const replayed = replay({ set, tools: loaded }, decisions, stamp(from));
  return decisions.map((decision) => replayed.get(decision) as Replayed);
}
const words = (replayed: readonly Replayed[]) =>
  replayed.map((each) => {
    if (each.kind === 'changed') return `${each.from} → ${each.to}`;
    return each.kind === 'unknowable' ? each.why : each.kind;
  });
const one = (set: PolicySet, over: Partial<RecordedDecision>, ...more: [number?, Candidate['tools']?]) => {
  const run = new RecordedRun(none);
  run.submit({ args: { n: 20 } });
  return outcomes(
    set,
    run.decisions.map((decision) => ({ ...decision, ...over })),
    ...more,
  )[0] as Replayed;
};

describe('of what was decided', () => {
  test('an allowance becomes what the new rules say, by the rule that says it', () => {
    const run = new RecordedRun(none);
    run.submit({ args: { n: 20 } });
    run.submit({ args: { n: 5 } });
    expect(outcomes(large, run.decisions)).toMatchObject([
      { kind: 'changed', from: 'allow', to: 'deny', verdict: { rule: 'new', error: null } },
      { kind: 'unchanged' },
    ]);
    expect(words(outcomes(rule('args.n > 10', 'require_approval'), run.decisions))).toEqual([
      'allow → require_approval',
      'unchanged',
    ]);
  });

  test('an allowance by a grant is a demand for approval that was met, by whoever made it', () => {
    const asks = rule('args.n > 10', 'require_approval');
    const by = (...demandedBy: string[]) => ({
      reasons: { policy: 'p', rule: 'grant', inputs: { grant: 'g1', givenBy: 'pat', demandedBy } },
    });
    expect(words([one(asks, by('new')), one(none, by('new')), one(none, by('approval'))])).toEqual([
      'unchanged',
      'require_approval → allow',
      'unchanged',
    ]);
  });

  test('a denial by rules is an allowance without them, and one that asked for a person is its own kind', () => {
    for (const [set, from] of [
      [large, 'deny'],
      [rule('args.n > 10', 'require_approval'), 'require_approval'],
    ] as const) {
      const run = new RecordedRun(set);
      run.submit({ args: { n: 20 } });
      expect(words(outcomes(none, run.decisions))).toEqual([`${from} → allow`]);
      expect(words(outcomes(set, run.decisions))).toEqual(['unchanged']);
    }
    const older = { decision: 'deny', code: 'rule_denied', wouldAllow: approvalOfAPerson } as const;
    const reasons = { policy: 'v', rule: 'large-asks', inputs: {} };
    expect(words([one(none, { ...older, reasons })]), 'before anybody could be asked').toEqual([
      'require_approval → allow',
    ]);
    const run = new RecordedRun(policies({ default: 'deny' }));
    run.submit();
    expect(words(outcomes(none, run.decisions))).toEqual(['deny → allow']);
  });

  test.each(['permission_denied', 'budget_exhausted', 'duplicate_business_operation'])(
    'a denial by %s stays one, whatever the rules say',
    (denied) => {
      const run = new RecordedRun(large);
      run.submit({ denied });
      expect(words(outcomes(none, run.decisions))).toEqual(['not_by_rules']);
    },
  );

  test.each(['approval', 'taint', 'look_alike', 'approval and new'])(
    'what %s asked for a person about is asked about whatever the rules allow, and denied where they deny',
    (names) => {
      const asks = rule('args.n > 10', 'require_approval');
      const isWritten = names.endsWith('new');
      const run = new RecordedRun(isWritten ? asks : none);
      run.submit({ args: { n: 20 }, demandedBy: names.split(' ')[0] as string });
      expect(words(outcomes(none, run.decisions))).toEqual(['unchanged']);
      expect(words(outcomes(asks, run.decisions))).toEqual(['unchanged']);
      expect(words(outcomes(large, run.decisions))).toEqual(['require_approval → deny']);
    },
  );

  test('what came of it when people were asked makes no difference to it, and all to what came after', () => {
    const asks = rule("args.n > 10 || run.denied.exists(h, h.state == 'denied')", 'require_approval');
    const run = new RecordedRun(asks);
    const olga = { name: 'olga', roles: [], groups: [] };
    run.change(run.submit({ args: { n: 20 } }), { type: 'refuse', approver: olga, digest: null, reason: 'no' });
    run.submit({ args: { n: 5 } });
    expect(run.decisions.map(({ decision }) => decision)).toEqual(['require_approval', 'require_approval']);
    expect(words(outcomes(asks, run.decisions))).toEqual(['unchanged', 'unchanged']);
    expect(words(outcomes(none, run.decisions))).toEqual(['require_approval → allow', 'require_approval → allow']);
    const waiting = new RecordedRun(rule("run.history.exists(h, h.state == 'awaiting_approval')", 'deny'));
    waiting.submit({ demandedBy: 'approval' });
    waiting.submit();
    expect(words(outcomes(none, waiting.decisions))).toEqual(['unchanged', 'deny → allow']);
  });

  test.each(['cost', 'taint', 'look_alike', 'approval', 'refused_before', 'grant'])(
    'so does one that is made in place of a rule: %s, and no rule may be named so',
    (name) => {
      const reasons = { policy: 'v', rule: name, inputs: {} };
      expect(one(none, { decision: 'deny', code: 'rule_denied', reasons })).toEqual({ kind: 'not_by_rules' });
      const rules = [{ name: name.replaceAll('_', '-'), then: 'allow' }];
      if (!name.includes('_')) expect(() => policies({ rules })).toThrow(/rules\.0\.name: .*must be another name/);
    },
  );

  test('a rule that cannot be evaluated denies, and says why', () => {
    expect(outcomes(rule('args.missing > 1', 'allow'), withArgs({ n: 1 }))).toMatchObject([
      { to: 'deny', verdict: { error: 'field not found: missing' } },
    ]);
  });
});

function withArgs(args: RecordedDecision['args']): RecordedDecision[] {
  const run = new RecordedRun(none);
  run.submit();
  return run.decisions.map((decision) => ({ ...decision, args }));
}

describe('restrictions', () => {
  const restrict = [{ tools: ['payments.*'], allow: 'args.n <= 10', message: 'At most 10.' }];
  const bounded = policies({ serviceKeys: { bot: { restrict } } });

  test('of the key that opened the run are those of the candidate', () => {
    const run = new RecordedRun(none);
    run.submit({ args: { n: 20 } });
    expect(outcomes(bounded, run.decisions)).toMatchObject([{ to: 'deny', verdict: { rule: 'bot.restrict.0' } }]);
    const other = new RecordedRun(none, 'run_2', [], 'other');
    other.submit({ args: { n: 20 } });
    expect(words(outcomes(bounded, other.decisions))).toEqual(['unchanged']);
    const before = new RecordedRun(bounded);
    before.submit({ args: { n: 20 } });
    expect(words(outcomes(none, before.decisions))).toEqual(['deny → allow']);
  });

  test('of the run itself stay what they are', () => {
    const run = new RecordedRun(none, 'run_1', restrict);
    run.submit({ args: { n: 20 } });
    run.submit({ args: { n: 5 } });
    expect(words(outcomes(rule(null, 'allow'), run.decisions))).toEqual(['unchanged', 'unchanged']);
  });
});

describe('what a rule sees of the run', () => {
  const second = rule("run.history.exists(h, h.tool == tool.name && h.state == 'committed')");

  test('is what had happened until then', () => {
    const run = new RecordedRun(none);
    const first = run.submit();
    run.submit();
    run.commit(first);
    run.submit();
    run.submit({ tool: 'mail.message.send' });
    expect(words(outcomes(second, run.decisions))).toEqual(['unchanged', 'unchanged', 'allow → deny', 'unchanged']);
  });

  test('is whether it had read text from outside by then', () => {
    const run = new RecordedRun(none);
    run.tainted = run.submit();
    run.submit();
    expect(words(outcomes(rule('run.tainted'), run.decisions))).toEqual(['unchanged', 'allow → deny']);
  });

  test('is that of its own run only', () => {
    const runs = [new RecordedRun(none), new RecordedRun(none, 'run_2')];
    for (const run of runs) run.commit(run.submit());
    expect(
      words(
        outcomes(
          second,
          runs.flatMap(({ decisions }) => decisions),
        ),
      ),
    ).toEqual(['unchanged', 'unchanged']);
  });

  test('does not depend on the order in which decisions come', () => {
    const run = new RecordedRun(none);
    run.commit(run.submit());
    run.submit();
    expect(words(outcomes(second, run.decisions.toReversed()))).toEqual(['allow → deny', 'unchanged']);
  });

  test('gives back what certainly did not happen, and keeps what was sent', () => {
    const run = new RecordedRun(none);
    const refused = run.submit({ cost: 7 });
    run.start(refused);
    run.report(refused, { kind: 'not_executed', cause: 'http_400', transient: false, retryAfterMs: null, detail: '' });
    run.submit();
    const seen = 'run.calls == 1 && run.mutating == 0 && run.cost == 0.0 && run.history == [] && run.denied == []';
    expect(words(outcomes(rule(seen), run.decisions))).toEqual(['unchanged', 'allow → deny']);
  });

  test('is all of it, up to 200 calls; where there are more, a rule that looks at them denies', () => {
    const run = new RecordedRun(none);
    for (let n = 0; n < 203; n += 1) run.submit({ args: { n } });
    const changed = words(outcomes(rule('size(run.history) > 500'), run.decisions));
    expect(changed.indexOf('allow → deny')).toBe(201);
    const sums = words(outcomes(rule('run.calls == 202'), run.decisions));
    expect(sums.indexOf('allow → deny'), 'sums are over all of them').toBe(202);
  });
});

describe('unknowable is', () => {
  const ofRun = rule('run.calls > 100');

  test('a decision from before there were policies', () => {
    expect(one(none, { reasons: null })).toEqual({ kind: 'unknowable', why: 'before_policies', rule: null });
  });

  test('a call of a tool that is not loaded or has another version', () => {
    expect(one(none, {}, opened, [])).toMatchObject({ why: 'tool_not_loaded' });
    expect(one(none, { toolVersion: 2 })).toMatchObject({ why: 'tool_changed' });
    expect(one(none, { run: null })).toMatchObject({ why: 'no_run' });
  });

  test('what a rule of the run says of a run that began earlier', () => {
    expect(one(ofRun, {}, opened + 1)).toEqual({ kind: 'unknowable', why: 'history_cut', rule: 'new' });
    expect(one(ofRun, {}, opened)).toEqual({ kind: 'unchanged' });
    expect(one(large, {}, opened + 1), 'no rule of the run is asked').toMatchObject({ kind: 'changed' });
    const elsewhere = rule('run.calls > 100', 'deny', { tools: ['mail.*'] });
    expect(one(elsewhere, {}, opened + 1), 'the rule is for another tool').toEqual({ kind: 'unchanged' });
  });

  test('what a rule of the run says where two calls were recorded at once', () => {
    const run = new RecordedRun(none);
    run.submit();
    run.submit();
    const at = stamp(opened + 5_000);
    const together = run.decisions.map((decision) => ({ ...decision, at }));
    expect(words(outcomes(ofRun, together))).toEqual(['same_moment', 'same_moment']);
    expect(words(outcomes(none, together))).toEqual(['unchanged', 'unchanged']);
  });

  test('what a rule or restriction says of arguments that are not told', () => {
    expect(one(large, { args: null })).toEqual({ kind: 'unknowable', why: 'arguments_too_long', rule: 'new' });
    expect(one(rule("tool.name == 'payments.refund.create'"), { args: null })).toMatchObject({ to: 'deny' });
    const restrict = [{ allow: 'args.n < 1', message: 'No.' }];
    expect(one(policies({ serviceKeys: { bot: { restrict } } }), { args: null })).toMatchObject({
      rule: 'bot.restrict.0',
    });
  });

  test('not what another rule denies anyway', () => {
    const both = (then: string) =>
      policies({
        rules: [
          { name: 'of-run', when: 'run.calls > 100', then: 'allow' },
          { name: 'of-args', when: 'args.n > 10', then, message: 'No.' },
        ],
      });
    expect(one(both('deny'), {}, opened + 1)).toMatchObject({ to: 'deny', verdict: { rule: 'of-args' } });
    expect(one(both('require_approval'), {}, opened + 1), 'it may deny').toMatchObject({ rule: 'of-run' });
    const byDefault = policies({ default: 'deny', rules: [{ name: 'of-run', when: 'run.calls < 9', then: 'allow' }] });
    expect(one(byDefault, {}, opened + 1), 'it may allow').toMatchObject({ why: 'history_cut' });
  });
});
