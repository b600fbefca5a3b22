import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judge } from './judge.js';
import { policies, tools } from './policy.spec-helper.js';
import { digest, opened, RecordedRun, type Submitted, stamp } from './recorded-run.spec-helper.js';
import { kindOf, replay } from './replay.js';

const conditions = [
  'run.calls > 2',
  'run.mutating >= 2 || run.destructive >= 2',
  'run.cost + cost > 3',
  'run.ageSeconds > 20',
  'run.tainted',
  'size(run.denied) > 1',
  "run.history.exists(h, h.state == 'unknown' || h.state == 'dead_lettered')",
  "run.history.exists(h, h.state == 'committed' && h.args.n == args.n)",
  'run.history.exists(h, h.ageSeconds > 10 && h.tool == tool.name)',
  'run.history[0].args.n > 1',
  "session.phase == 'resolve' && args.n > 2",
  'session.sandbox',
];
const set = fc
  .record({
    default: fc.constantFrom('allow', 'deny'),
    rules: fc.array(
      fc.record({
        when: fc.constantFrom(...conditions),
        then: fc.constantFrom('deny', 'require_approval', 'allow', 'allow'),
        tools: fc.constantFrom(['payments.*'], [...tools]),
      }),
      { maxLength: 4, size: 'max' },
    ),
  })
  .map((file) =>
    policies({ ...file, rules: file.rules.map((rule, n) => ({ name: `rule-${n}`, message: 'Because.', ...rule })) }),
  );

const call: fc.Arbitrary<Submitted> = fc.record(
  {
    tool: fc.constantFrom(...tools),
    effect: fc.constantFrom('read', 'write', 'destructive'),
    args: fc.record({ n: fc.integer({ min: 0, max: 4 }) }),
    cost: fc.integer({ min: 0, max: 2 }),
    sandbox: fc.boolean(),
    phase: fc.constant('resolve'),
    denied: fc.constant('budget_exhausted'),
    demandedBy: fc.constantFrom('approval', 'taint', 'look_alike'),
  },
  { requiredKeys: ['tool', 'args'] },
);
const target = fc.nat({ max: 5 });
const approver = { name: 'olga', roles: ['approver'], groups: [] };
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ call }) },
  fc.record({ taint: fc.constant(true) }),
  { weight: 2, arbitrary: fc.record({ target, start: fc.constant(true) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      target,
      verdict: fc.oneof(
        fc.constant({ kind: 'executed', data: {} } as const),
        fc.constant({ kind: 'accepted', data: {} } as const),
        fc.constant({ kind: 'unknown', cause: 'http_502', detail: '' } as const),
        fc
          .record({ transient: fc.boolean(), sent: fc.boolean() })
          .map((more) => ({ kind: 'not_executed', cause: 'x', retryAfterMs: null, detail: '', ...more }) as const),
      ),
    }),
  },
  fc.record({
    target,
    command: fc.constantFrom(
      { type: 'cancel', by: 'ada' } as const,
      { type: 'resolve', by: 'olga', outcome: 'not_executed', externalId: null, evidence: 'seen' } as const,
      { type: 'replay', by: 'olga', reason: 'again' } as const,
    ),
  }),
  {
    weight: 2,
    arbitrary: fc.record({
      target,
      command: fc.constantFrom(
        { type: 'approve', approver, digest } as const,
        { type: 'approve', approver, digest } as const,
        { type: 'refuse', approver, digest, reason: 'no' } as const,
        { type: 'withdraw', by: 'olga' } as const,
      ),
    }),
  },
  fc.record({ target, answer: fc.constantFrom({ kind: 'absent' } as const, { kind: 'present', data: {} } as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function play(run: RecordedRun, steps: readonly Step[]): RecordedRun {
  for (const each of steps) {
    if ('call' in each) run.submit(each.call);
    else if ('taint' in each) run.tainted ??= run.ids[0] ?? null;
    else {
      const id = run.ids[each.target];
      if (id === undefined) continue;
      if ('start' in each) run.start(id);
      else if ('verdict' in each) run.report(id, each.verdict);
      else if ('command' in each) run.change(id, each.command);
      else run.change(id, { type: 'record_lookup', answer: each.answer, askedAt: run.now });
    }
  }
  return run;
}
const steps = fc.array(step, { maxLength: 40, size: 'max' });
const candidate = (file: ReturnType<typeof policies>) => ({
  set: file,
  tools: tools.map((name) => ({ name, version: 1, permission: 'payments:refund', reversible: null })),
});

test('the rules that decided change nothing', () => {
  fc.assert(
    fc.property(set, steps, (file, done) => {
      const { decisions } = play(new RecordedRun(file), done);
      const kinds = [...replay(candidate(file), decisions, stamp(opened)).values()].map(({ kind }) => kind);
      expect(kinds).toEqual(decisions.map(({ code }) => (code === 'budget_exhausted' ? 'not_by_rules' : 'unchanged')));
    }),
    { numRuns: 300 },
  );
});

test('other rules make of each decision what they would have made of it then', () => {
  fc.assert(
    fc.property(set, set, steps, (file, other, done) => {
      const run = play(new RecordedRun(file), done);
      for (const [decision, replayed] of replay(candidate(other), run.decisions, stamp(opened))) {
        if (replayed.kind === 'not_by_rules') continue;
        const facts = run.facts.get(decision.intentId);
        const written = facts && judge(other, facts).kind;
        const isAskedAnyway = decision.demandedBy.some((name) => !name.startsWith('rule-'));
        const to = written === 'allow' && isAskedAnyway ? 'require_approval' : written;
        const from = kindOf(decision);
        expect(replayed).toMatchObject(from === to ? { kind: 'unchanged' } : { kind: 'changed', from, to });
      }
    }),
    { numRuns: 300 },
  );
});

test('with the beginning of the run away, what is not unknowable is as it is with it', () => {
  fc.assert(
    fc.property(set, set, steps, (file, other, done) => {
      const { decisions } = play(new RecordedRun(file), done);
      const whole = replay(candidate(other), decisions, stamp(opened));
      const cut = replay(candidate(other), decisions, stamp(opened + 1));
      for (const [decision, replayed] of cut) {
        const before = whole.get(decision);
        if (replayed.kind === 'unknowable') expect(replayed.why).toBe('history_cut');
        else if (replayed.kind === 'changed') expect(before).toMatchObject({ kind: 'changed', to: replayed.to });
        else expect(before).toEqual(replayed);
      }
    }),
    { numRuns: 300 },
  );
});
