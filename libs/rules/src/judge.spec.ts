import { describe, expect, test } from 'vitest';
import { factsOf } from './facts.spec-helper.js';
import { judge, needsRun } from './judge.js';
import { policies } from './policy.spec-helper.js';

const deny = { name: 'no-large', when: 'args.amount > 100', then: 'deny', message: 'Too large.' };
const approve = {
  name: 'ask-medium',
  when: 'args.amount > 10',
  then: 'require_approval',
  message: 'Somebody must look.',
};
const allow = { name: 'small', when: 'args.amount >= 0', then: 'allow' };
const of = (amount: unknown) => factsOf({ args: { amount } as never });

describe('of the rules that match', () => {
  const set = policies({ default: 'deny', rules: [allow, approve, deny] });

  test.each([
    [101, 'deny', 'no-large', 'Too large.'],
    [11, 'require_approval', 'ask-medium', 'Somebody must look.'],
    [10, 'allow', 'small', null],
    [-1, 'deny', null, 'No rule allows this call.'],
  ])('of an amount of %d the verdict is %s', (amount, kind, rule, message) => {
    expect(judge(set, of(amount))).toEqual({
      ...{ kind, rule, message, error: null },
      inputs: rule === null ? {} : { 'args.amount': amount },
    });
  });

  test('the first by name decides among equals', () => {
    const second = { ...deny, name: 'a-rule', message: 'First.' };
    expect(judge(policies({ rules: [deny, second] }), of(101))).toMatchObject({ rule: 'a-rule', message: 'First.' });
  });
});

describe('a rule that cannot be evaluated', () => {
  test.each(['allow', 'require_approval', 'deny'])('denies, although it says %s', (then) => {
    const rule = { name: 'broken', when: 'args.limit > 10', then, message: 'Because.' };
    expect(judge(policies({ rules: [rule, allow] }), of(5))).toEqual({
      kind: 'deny',
      rule: 'broken',
      message: 'The rule broken cannot be applied to this call, so it is refused.',
      inputs: {},
      error: 'field not found: limit',
    });
  });

  test('does not hide a denial that matches', () => {
    const broken = { name: 'a-broken', when: 'args.limit > 10', then: 'deny', message: 'Because.' };
    expect(judge(policies({ rules: [broken, deny] }), of(101))).toMatchObject({
      rule: 'no-large',
      message: 'Too large.',
    });
  });

  test('counts only for its tools', () => {
    const broken = { name: 'broken', tools: ['mail.*'], when: 'args.limit > 10', then: 'deny', message: 'Because.' };
    expect(judge(policies({ rules: [broken] }), of(5))).toMatchObject({ kind: 'allow', rule: null });
  });

  test.each([
    ['a number', 'args.amount'],
    ['a text', 'true ? "true" : ""'],
    ['nothing', 'true ? null : null'],
  ])('is one that gives %s, too', (_, when) => {
    const rule = { name: 'odd', when, then: 'allow' };
    expect(judge(policies({ rules: [rule] }), of(1))).toMatchObject({
      kind: 'deny',
      error: 'is neither true nor false',
    });
  });

  test('never repeats an argument to the agent', () => {
    const rules = ['args.amount > 1', 'int(args.amount) > 1', '{args.amount: 1, "secret-1": 2}.x'];
    for (const when of rules) {
      const set = policies({ rules: [{ name: 'broken', when, then: 'allow' }] });
      expect(judge(set, of('secret-1')).message).toBe(
        'The rule broken cannot be applied to this call, so it is refused.',
      );
    }
  });

  test('is one about the run, where nothing of the run was loaded', () => {
    const set = policies({ rules: [{ name: 'calls', when: 'run.calls > 1', then: 'allow' }] });
    expect(set.rulesFor('acme').map(({ usesRun }) => usesRun)).toEqual([true]);
    expect(judge(set, { ...factsOf(), run: null })).toMatchObject({ kind: 'deny', rule: 'calls' });
  });
});

test('whether a rule looks at the run is known from its parts', () => {
  const when = [
    'args.run > 1',
    '"run" == "run"',
    'args.l.exists(run, run > 1)',
    'size(run.history) > 1',
    'has(run.calls)',
    'run.tainted && !has(run.tainted)',
    'run.tainted && size(run) > 2',
  ];
  const rules = when.map((text, n) => ({ name: `r${n}`, when: text, then: 'allow' }));
  expect(
    policies({ rules })
      .rulesFor('acme')
      .map(({ usesRun }) => usesRun),
  ).toEqual([false, false, false, true, true, false, true]);
});

test('the run has to be loaded for tools and tenants with a rule that looks at it', () => {
  const rule = { name: 'often', tools: ['payments.*'], when: 'run.calls > 1', then: 'allow' };
  const set = policies(
    { rules: [{ ...rule, name: 'plain', when: 'args.run > 1' }] },
    { tenant: 'acme', rules: [rule] },
  );
  expect(needsRun(set, 'acme', 'payments.refund.create')).toBe(true);
  expect(needsRun(set, 'acme', 'mail.message.send')).toBe(false);
  expect(needsRun(set, 'globex', 'payments.refund.create')).toBe(false);
});

test('a rule sees every variable as the page says', () => {
  const when = [
    "session == {'tenant': 'acme', 'user': 'ada', 'profile': 'interactive', 'phase': '', 'permissions': ['payments:*'], 'sandbox': false}",
    "tool == {'name': 'payments.refund.create', 'namespace': 'payments.refund', 'version': 1, 'effect': 'destructive', 'permission': 'payments:refund'}",
    'type(cost) == double && cost / 2 == 2.5',
    'run.ageSeconds == 60 && !run.tainted && run.calls + run.mutating + run.destructive == 0 && run.cost / 2 == 0.5',
    "run.history[0].tool == tool.name && run.history[0].effect == 'destructive' && run.history[0].cost / 2 == 1.5",
    "run.history[0].state == 'committed' && run.history[0].ageSeconds == 60 && run.history[0].args.n == 1",
  ];
  const rules = when.map((text, n) => ({ name: `r${n}`, when: `!(${text})`, then: 'deny', message: text }));
  const facts = factsOf({ cost: 5, run: { cost: 1, history: [{ cost: 3, args: { n: 1 } }] } });
  expect(judge(policies({ rules }), facts)).toMatchObject({ kind: 'allow', error: null });
});

test('whether a tool can be undone is there only where the tool says so', () => {
  const set = policies({
    rules: [{ name: 'r', when: 'has(tool.reversible) && !tool.reversible', then: 'deny', message: 'No.' }],
  });
  const kinds = [null, true, false].map((reversible) => judge(set, factsOf({ tool: { reversible } })).kind);
  expect(kinds).toEqual(['allow', 'allow', 'deny']);
});

describe('what is recorded of a decision', () => {
  function inputs(when: string, args: object): unknown {
    const set = policies({ rules: [{ name: 'r', when: `(${when}) || true`, then: 'deny', message: 'No.' }] });
    return judge(set, factsOf({ args: args as never })).inputs;
  }

  test('is what the rule looked at, and nothing else', () => {
    const args = { amount: 5, note: 'private', deep: { id: 'x' } };
    expect(
      inputs('args.amount > 1 && args.deep.id == "x" && session.profile == "batch" && has(args.gone)', args),
    ).toEqual({
      ...{ 'args.amount': 5, 'args.deep.id': 'x', 'session.profile': 'interactive' },
    });
  });

  test('is bounded in size', () => {
    const long = 'é'.repeat(1000);
    const list = Array.from({ length: 1000 }, (_, n) => n);
    expect(
      inputs('args.s == "" || args.l == [] || args.short == [] || args.o == {} || args.n == null', {
        ...{
          s: long,
          l: list,
          short: [long, { a: [null, 1.5] }],
          o: Object.fromEntries(list.map((n) => [`f${n}`, n])),
        },
        n: null,
      }),
    ).toEqual({
      'args.s': `${'é'.repeat(200)}…`,
      'args.l': 'a list of 1000',
      'args.short': [`${'é'.repeat(200)}…`, { a: [null, 1.5] }],
      'args.o': 'an object of 1000 fields',
      'args.n': null,
    });
    const many = Array.from({ length: 50 }, (_, n) => `args.f${n}`);
    expect(
      Object.keys(inputs(`size([${many}]) > 1`, Object.fromEntries(many.map((_, n) => [`f${n}`, n]))) as object),
    ).toHaveLength(20);
  });

  test('holds no half of a surrogate pair', () => {
    expect(inputs('args.s == ""', { s: `${'a'.repeat(199)}😀` })).toEqual({ 'args.s': `${'a'.repeat(199)}…` });
  });

  test('shows the cost as a number', () => {
    const set = policies({ rules: [{ name: 'r', when: 'cost + run.cost > 1', then: 'deny', message: 'No.' }] });
    expect(judge(set, factsOf({ cost: 5, run: { cost: 1 } })).inputs).toEqual({ cost: 5, 'run.cost': 1 });
  });
});
