import fc from 'fast-check';
import { expect, test } from 'vitest';
import { factsOf } from './facts.spec-helper.js';
import { judge } from './judge.js';
import { policies } from './policy.spec-helper.js';

const conditions = [
  'true',
  'false',
  'args.a > 5',
  'args.a <= 5',
  'args.b == "x"',
  'has(args.b)',
  'args.missing',
  'args.a',
  '1 / 0 == 1',
];
const failing = ['args.missing == 1', 'args.a', '1 / 0 == 1', 'args.a > "x"', 'run.history[3].tool == "x"'];
const then = fc.constantFrom('allow', 'deny', 'require_approval');
const body = fc.record({
  when: fc.constantFrom(...conditions),
  then,
  tools: fc.constantFrom(['payments.*'], ['payments.refund.create'], ['mail.*']),
  message: fc.constant('Because.'),
  everyones: fc.boolean(),
});
const rules = fc.array(body, { maxLength: 6 }).map((all) => all.map((rule, n) => ({ name: `rule-${n}`, ...rule })));
const byDefault = fc.constantFrom('allow', 'deny');
const facts = fc
  .record({ a: fc.integer({ min: 0, max: 10 }), b: fc.constantFrom('x', 'y') }, { requiredKeys: ['a'] })
  .map((args) => factsOf({ args }));

type Rules = readonly ({ readonly everyones: boolean } & Readonly<Record<string, unknown>>)[];

/** The rules spread over the file of the deployment and that of the tenant. */
function filesOf(all: Rules, chosen: string): object[] {
  const part = (wanted: boolean) =>
    all.filter(({ everyones }) => everyones === wanted).map(({ everyones: _, ...rule }) => rule);
  return [
    { default: chosen, rules: part(true) },
    { tenant: 'acme', rules: part(false) },
  ];
}

test('one more denial never turns a denial into an allowance', () => {
  fc.assert(
    fc.property(rules, body, byDefault, facts, (all, more, chosen, given) => {
      const before = judge(policies(...filesOf(all, chosen)), given);
      const added = [...all, { ...more, name: 'added', then: 'deny' }];
      const after = judge(policies(...filesOf(added, chosen)), given);
      if (before.kind === 'deny') expect(after.kind).toBe('deny');
    }),
  );
});

test('the order of rules and files makes no difference', () => {
  const shuffled = rules.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
  );
  fc.assert(
    fc.property(shuffled, byDefault, facts, ([all, other], chosen, given) => {
      const verdict = judge(policies(...filesOf(all, chosen)), given);
      expect(judge(policies(...filesOf(other, chosen).toReversed()), given)).toEqual(verdict);
    }),
  );
});

test('a rule that cannot be evaluated never allows, whatever else there is', () => {
  fc.assert(
    fc.property(rules, fc.constantFrom(...failing), then, byDefault, facts, (all, when, kind, chosen, given) => {
      const broken = { name: 'broken', everyones: true, when, then: kind, message: 'Because.' };
      expect(judge(policies(...filesOf([...all, broken], chosen)), given).kind).toBe('deny');
    }),
  );
});

test('the version depends on the content only', () => {
  fc.assert(
    fc.property(rules, rules, byDefault, (all, others, chosen) => {
      const files = filesOf(all, chosen);
      const { version } = policies(...files);
      const reordered = files.toReversed().map((file) => Object.fromEntries(Object.entries(file).toReversed()));
      expect(policies(...reordered).version).toBe(version);
      const other = filesOf(others, chosen);
      expect(policies(...other).version === version).toBe(JSON.stringify(other) === JSON.stringify(files));
    }),
  );
});
