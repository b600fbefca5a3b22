import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newestOf, type Preview } from './approval.js';
import type { Command } from './commands.js';
import { decide } from './decide.js';
import { fold } from './evolve.js';
import { admitted, asking, type Recorded, type Scenario } from './given.spec-helper.js';
import {
  absent,
  approve,
  approver,
  askedUntil,
  cancel,
  expire,
  keyed,
  keyedWithoutProof,
  lookup,
  present,
  recorded,
  refuse,
  refused,
  request,
  runEnd,
  silence,
  startVerified,
  verdict,
  withdraw,
} from './samples.spec-helper.js';
import { type Intent, isTerminal, type StateName } from './state.js';

const approved = { type: 'approved' } as const;
const cleared = { type: 'authorized', basis: 'approved' } as const;
const expired = { type: 'denied', failure: { code: 'approval_expired' } } as const;
const versionOf = ({ intent }: Scenario) => (intent as Intent).version;
const by = (name: string) => ({ type: 'approved', by: name }) as const;

/** Olga has agreed, nothing was sent. */
const agreed = () => asking().when(approve('olga'), 100).accepts(approved, cleared);
/** Agreed to; attempt 1 is open since 200. */
const sending = (from = agreed()) =>
  from.when(startVerified(1, versionOf(from), ['d1']), 200).accepts({ type: 'attempt_started' });
/** Agreed to; attempt 1 was turned away, and may be sent again from 1200 on. */
const turnedAway = () =>
  sending()
    .when(verdict(1, refused('http_503', true)), 700)
    .accepts({ type: 'attempt_not_executed' }, { type: 'authorized', notBefore: 1_200 });
/** Asked anew after olga had agreed to d1. */
const askedAnew = (second = request('d2'), from = agreed()) =>
  from
    .when(startVerified(1, versionOf(from), [], second), 200)
    .accepts({ type: 'approval_requested', request: { digest: second.digest }, differs: ['the policy files'] })
    .isIn('awaiting_approval');

describe('a quorum', () => {
  it.each([1, 2, 3, 10])('of %i is as many different people', (quorum) => {
    let scenario = asking({ quorum });
    for (let each = 1; each < quorum; each += 1) {
      scenario = scenario
        .when(approve(`p${each}`), each)
        .accepts(approved)
        .isIn('awaiting_approval');
    }
    scenario.when(approve('last'), 50).accepts(by('last'), cleared).isIn('authorized', { basis: 'approved' });
  });

  it('counts the same person once, however the name is written', () => {
    const once = asking({ quorum: 2 }).when(approve('Olga'), 1).accepts(by('Olga'));
    for (const name of ['Olga', 'olga', 'OLGA', ' olga ', 'Ｏｌｇａ']) once.when(approve(name), 2).isUnchanged();
    once.when(approve('pete'), 3).accepts(by('pete'), cleared);
  });

  it('that is complete makes a further yes no news', () => {
    agreed().when(approve('pete'), 200).isUnchanged().when(approve('olga'), 200).isUnchanged();
    sending().when(approve('pete'), 300).isUnchanged();
  });
});

describe('who may agree', () => {
  it('is not whoever the run acts for, unless the tool says so', () => {
    for (const name of ['ann', 'Ann', 'ＡＮＮ']) asking().when(approve(name), 1).rejects('own_request');
    asking({ selfApproval: true }).when(approve('Ann'), 1).accepts(by('Ann'), cleared);
    asking().when(refuse('ann'), 1).accepts({ type: 'refused', by: 'ann' }, { type: 'denied' });
  });

  it.each([
    [{}, true],
    [{ roles: ['operator'] }, false],
    [{ roles: ['operator', 'admin'] }, false],
    [{ roles: ['approver', 'admin'] }, true],
    [{ groups: ['payments'] }, true],
    [{ groups: ['on-call'] }, false],
    [{ groups: ['on-call', 'payments'] }, true],
    [{ roles: ['approver'], groups: ['on-call'] }, false],
    [{ roles: ['admin'], groups: ['payments'] }, false],
  ])('follows from roles and groups: %j', (wanted, may) => {
    const pete = approver('pete', { groups: ['payments'] });
    const asked = asking(wanted);
    if (may) {
      asked.when(approve(pete), 1).accepts(approved, cleared);
      asked.when(refuse(pete), 1).accepts({ type: 'refused' }, { type: 'denied' });
    } else {
      asked.when(approve(pete), 1).rejects('not_entitled');
      asked.when(refuse(pete), 1).rejects('not_entitled');
    }
  });

  it('is told before anything else is', () => {
    const pete = approver('pete');
    const over = asking({ groups: ['payments'] })
      .when(cancel, 1)
      .accepts({ type: 'cancelled' });
    over.when(approve(pete, 'other'), 1).rejects('not_entitled');
    over.when(refuse(pete, 'other'), 1).rejects('not_entitled');
  });
});

describe('a yes or a no', () => {
  it('to what is not asked any more is turned away', () => {
    asking().when(approve('olga', 'd0'), 1).rejects('stale_digest');
    asking().when(refuse('olga', 'd0'), 1).rejects('stale_digest');
    askedAnew().when(approve('pete', 'd1'), 300).rejects('stale_digest');
    askedAnew().when(refuse('pete', 'd1'), 300).rejects('stale_digest');
  });

  it('has nothing to be about where nobody was asked', () => {
    for (const command of [approve('olga'), refuse('olga'), withdraw('olga')]) {
      admitted().when(command, 1).rejects('not_awaiting');
    }
    admitted()
      .when({ type: 'show_preview', of: 'd1', request: request('d2') }, 1)
      .rejects('not_awaiting');
  });

  it.each<[StateName, (from: Scenario) => Scenario]>([
    ['cancelled', (from) => from.when(cancel, 1).accepts({ type: 'cancelled' })],
    ['denied', (from) => from.when(expire, runEnd).accepts(expired)],
    ['denied', (from) => from.when(expire, askedUntil).accepts(expired)],
  ])('comes too late where it is %s, at the end of its run, too', (state, end) => {
    const over = end(asking()).isIn(state);
    for (const command of [approve('olga'), refuse('olga'), withdraw('olga')]) {
      over.when(command, 5).rejects('not_awaiting');
    }
  });
});

describe('a no', () => {
  const no = { type: 'refused', by: 'pete', reason: 'not this one' } as const;
  const denied = { type: 'denied', failure: { code: 'approval_refused' } } as const;

  it('ends it, and says who and why', () => {
    asking()
      .when(refuse('pete'), 1)
      .accepts(no, denied)
      .isIn('denied', {
        failure: {
          code: 'approval_refused',
          message:
            'pete refused payments.refund.create: not this one. Nothing was sent. Do not call it again, and do not change the call to get around this.',
          details: { by: 'pete', reason: 'not this one' },
        },
      });
  });

  it('outweighs every yes as long as nothing is sent', () => {
    asking({ quorum: 3 }).when(approve('olga'), 1).accepts(approved).when(refuse('pete', 'd1'), 2).accepts(no, denied);
    agreed().when(refuse('pete'), 200).accepts(no, denied).isIn('denied');
    agreed().when(refuse('olga'), 200).accepts({ type: 'refused', by: 'olga' }, denied);
    askedAnew().when(refuse('pete', 'd2'), 300).accepts(no, denied);
    turnedAway()
      .when(refuse('pete'), 800)
      .accepts(no, { type: 'denied', failure: { message: expect.stringContaining('Nothing has happened.') } });
  });

  it('is too late once it may have been sent', () => {
    sending().when(refuse('pete'), 300).rejects('in_flight');
    const unclear = sending().when(verdict(1, silence), 8_000).accepts({ type: 'outcome_unknown' });
    unclear.when(refuse('pete'), 8_100).rejects('in_flight');
    const resend = unclear
      .when(lookup(absent, 38_000), 38_000)
      .accepts({ type: 'lookup_absent' })
      .when(lookup(absent, 43_000), 43_000)
      .accepts({ type: 'lookup_absent' }, { type: 'authorized', basis: 'absent' });
    resend.when(refuse('pete'), 43_100).accepts(no, denied);
  });

  it('that is said twice, or by another, is said', () => {
    const over = asking().when(refuse('pete'), 1).accepts(no, denied);
    over.when(refuse('pete'), 2).isUnchanged().when(refuse('olga', 'd0'), 2).isUnchanged();
    over.when(approve('olga'), 2).rejects('not_awaiting');
  });

  it('does not lose what turns out to have happened all the same', () => {
    const over = sending()
      .when(verdict(1, silence), 8_000)
      .accepts({ type: 'outcome_unknown' })
      .when(lookup(absent, 38_000), 38_000)
      .accepts({ type: 'lookup_absent' })
      .when(lookup(absent, 43_000), 43_000)
      .accepts({ type: 'lookup_absent' }, { type: 'authorized' })
      .when(refuse('pete'), 43_100)
      .accepts(no, denied);
    const found = { type: 'corrected', finding: 'executed', breach: 'max_processing' } as const;
    over
      .when(verdict(1, { kind: 'executed', data: {} }), 44_000)
      .accepts({ ...found, attempt: 1 })
      .isIn('denied');
    over.when(lookup(present(), 43_000), 44_000).accepts(found).when(lookup(present(), 43_000), 45_000).isUnchanged();
    asking().when(refuse('pete'), 1).accepts(no, denied).when(lookup(present(), 2), 2).isUnchanged();
  });
});

describe('taking back', () => {
  const taken = { type: 'approval_withdrawn', by: 'olga' } as const;

  it('makes a yes one that was not given', () => {
    agreed()
      .when(withdraw('OLGA'), 200)
      .accepts(taken)
      .isIn('awaiting_approval', { approvals: { given: [] } })
      .when(startVerified(1, 5, ['d1']), 300)
      .rejects('not_approved')
      .when(approve('olga'), 400)
      .accepts(approved, cleared);
    asking({ quorum: 2 }).when(approve('olga'), 1).accepts(approved).when(withdraw('olga'), 2).accepts(taken);
  });

  it('takes back everything that the person has agreed to, however the name was written', () => {
    const twice = askedAnew(request('d2', { quorum: 2 }))
      .when(approve('OLGA', 'd2'), 300)
      .accepts(by('OLGA'));
    twice
      .when(withdraw('olga'), 400)
      .accepts(taken)
      .isIn('awaiting_approval', { approvals: { given: [] } });
  });

  it('leaves it agreed to where others have agreed to what is asked now', () => {
    askedAnew()
      .when(approve('pete', 'd2'), 300)
      .accepts(approved, cleared)
      .when(withdraw('olga'), 400)
      .accepts(taken, cleared)
      .isIn('authorized', { approvals: { given: [{ by: 'pete', digest: 'd2' }] } });
  });

  it('is not for what was not given, is under way, or may have happened', () => {
    asking().when(withdraw('olga'), 1).rejects('nothing_given');
    agreed().when(withdraw('pete'), 200).rejects('nothing_given');
    sending().when(withdraw('olga'), 300).rejects('in_flight');
    turnedAway().when(withdraw('olga'), 800).accepts(taken).isIn('awaiting_approval', { notBefore: 1_200 });
  });

  it('and agreeing again does not forget when it may be sent', () => {
    turnedAway()
      .when(withdraw('olga'), 800)
      .accepts(taken)
      .when(approve('olga'), 900)
      .accepts(approved, { ...cleared, notBefore: 1_200 });
  });
});

describe('a preview', () => {
  const shown: Preview = { kind: 'shown', before: 1, after: 2, token: null, kept: 'not_kept' };
  const waiting = () => asking({ preview: { kind: 'asked' } });
  const show = (of: string, preview: Preview = shown): Command => ({
    type: 'show_preview',
    of,
    request: request('d2', { preview }),
  });

  it('is there before anybody agrees, and what is agreed to then is with it', () => {
    waiting().when(approve('olga'), 1).rejects('no_preview_yet');
    const seen = waiting()
      .when(show('d1'), 2)
      .accepts({ type: 'approval_requested', request: { preview: shown } });
    seen.when(approve('olga', 'd1'), 3).rejects('stale_digest');
    seen.when(approve('olga', 'd2'), 3).accepts(approved, cleared);
    waiting().when(refuse('olga'), 1).accepts({ type: 'refused' }, { type: 'denied' });
  });

  it('that failed and that the call is tied to is asked for again, and nobody can agree before it is there', () => {
    const failed: Preview = { kind: 'failed', detail: 'http_503', needed: true };
    const without = waiting().when(show('d1', failed), 2).accepts({ type: 'approval_requested' });
    without.when(approve('olga', 'd2'), 3).rejects('no_preview_yet');
    without.when(show('d2', failed), 3).isUnchanged();
    const other = { ...failed, detail: 'call_timeout' };
    without.when(show('d2', other), 3).accepts({ type: 'approval_requested', request: { preview: other } });
    without
      .when(show('d2'), 3)
      .accepts({ type: 'approval_requested', request: { preview: shown } })
      .when(approve('olga', 'd2'), 4)
      .accepts(approved, cleared);
    without.when(expire, askedUntil).accepts(expired);
  });

  it('that failed and that nothing is tied to can be agreed to without: the card says so', () => {
    waiting()
      .when(show('d1', { kind: 'failed', detail: 'http_503', needed: false }), 2)
      .accepts({ type: 'approval_requested' })
      .when(approve('olga', 'd2'), 3)
      .accepts(approved, cleared);
  });

  it('comes once, for what is asked now', () => {
    asking().when(show('d1'), 1).isUnchanged();
    waiting().when(show('d0'), 1).isUnchanged();
    waiting().when(show('d1'), 2).accepts({ type: 'approval_requested' }).when(show('d1'), 3).isUnchanged();
    agreed().when(show('d1'), 200).isUnchanged();
  });
});

describe('what was asked by the rules of before', () => {
  const unjudged = request('d2', { policy: 'p2', judged: 'p1' });
  const waiting = () => askedAnew(unjudged);
  const now = request('d3', { policy: 'p2', judged: 'p2', demands: [{ rule: 'large', message: 'Over 20.00.' }] });
  const failure = { code: 'rule_denied', message: 'Not any more.', details: {} };
  const reasons = { policy: 'p2', rule: 'never', inputs: {} };
  const asks = (of = 'd2'): Command => ({ type: 'judge_again', of, ruling: { allow: 'approved', request: now } });
  const denies: Command = { type: 'judge_again', of: 'd2', ruling: { allow: false, failure, reasons } };

  it('cannot be agreed to, and can be refused and taken back', () => {
    waiting().when(approve('pete', 'd2'), 300).rejects('not_judged_yet');
    waiting()
      .when(refuse('pete', 'd2'), 300)
      .accepts({ type: 'refused' }, { type: 'denied', failure: { code: 'approval_refused' } });
    waiting().when(withdraw('olga'), 300).accepts({ type: 'approval_withdrawn' });
    askedAnew(request('d2', { policy: 'p2', judged: 'p1', preview: { kind: 'asked' } }))
      .when(approve('pete', 'd2'), 300)
      .rejects('not_judged_yet');
  });

  it('is asked by those of now, and can be agreed to then', () => {
    const judged = waiting()
      .when(asks(), 300)
      .accepts({ type: 'approval_requested', request: now })
      .isIn('awaiting_approval', { approvals: { differs: ['the policy files'] } });
    judged.when(approve('pete', 'd2'), 400).rejects('stale_digest');
    judged.when(approve('pete', 'd3'), 400).accepts(approved, cleared);
    const { approvals } = judged.intent as Intent;
    expect(approvals?.requests.map(({ digest }) => digest)).toEqual(['d1', 'd2', 'd3']);
  });

  it('is denied where they deny it, with the rule', () => {
    waiting()
      .when(denies, 300)
      .accepts({ type: 'denied', failure, reasons })
      .isIn('denied', { failure: { code: 'rule_denied' } });
  });

  it('still goes by what was agreed to before, once that is right again', () => {
    const back = waiting();
    back
      .when(startVerified(2, versionOf(back), ['d1']), 300)
      .accepts(cleared, { type: 'attempt_started', approval: 'd1' });
    const judged = waiting().when(asks(), 300).accepts({ type: 'approval_requested' });
    judged
      .when(startVerified(2, versionOf(judged), ['d1']), 300)
      .accepts(cleared, { type: 'attempt_started', approval: 'd1' });
  });

  it('is judged once, for what is asked now', () => {
    waiting().when(asks('d1'), 300).isUnchanged();
    waiting().when(asks(), 300).accepts({ type: 'approval_requested' }).when(denies, 400).isUnchanged();
    waiting()
      .when(refuse('pete'), 300)
      .accepts({ type: 'refused' }, { type: 'denied' })
      .when(denies, 400)
      .isUnchanged();
    agreed().when(asks('d1'), 200).isUnchanged();
    asking().when(asks('d1'), 200).isUnchanged();
    asking({ judged: 'p1' }).when(asks('d1'), 200).isUnchanged();
    admitted().when(asks('d1'), 200).rejects('not_awaiting');
  });

  it('expires as it would have', () => {
    waiting().when(denies, askedUntil).accepts(expired);
    waiting().when(asks(), askedUntil).accepts(expired);
    waiting().when(approve('pete', 'd2'), askedUntil).accepts(expired);
  });
});

describe('silence', () => {
  it.each<[string, Command, () => Scenario]>([
    ['approve', approve('olga'), () => asking()],
    ['refuse', refuse('olga'), () => asking()],
    ['refuse what was agreed to', refuse('pete'), agreed],
    ['start_attempt', startVerified(1, 4, ['d1']), agreed],
    ['start_attempt without a look', { type: 'start_attempt', attemptId: 'try-1' }, agreed],
    ['expire', expire, () => asking()],
    ['expire what was agreed to', expire, agreed],
    [
      'show_preview',
      { type: 'show_preview', of: 'd1', request: request('d2') },
      () => asking({ preview: { kind: 'asked' } }),
    ],
  ])('is a no from the very moment on that it was to end: %s', (_, command, scenario) => {
    scenario().when(command, askedUntil).accepts(expired).isIn('denied');
    const { intent } = scenario();
    const before = decide(command, intent, askedUntil - 1);
    expect(before).not.toMatchObject({ events: [expired] });
  });

  it('is told as that, and not as a refusal', () => {
    asking()
      .when(expire, askedUntil)
      .accepts({
        type: 'denied',
        failure: {
          code: 'approval_expired',
          message:
            'payments.refund.create needed the approval of a person, and its time was over before it was given and sent. Nothing was sent, and nothing will be sent. Nobody has refused it; ask your user whether it is still wanted.',
          details: { expiredAt: '1970-01-01T01:00:00.000Z' },
        },
      });
    asking()
      .when(expire, askedUntil - 1)
      .isUnchanged();
  });

  it('ends with the authority of the run where that ends first', () => {
    asking({ expiresAt: 2 * runEnd })
      .when(expire, runEnd)
      .accepts({ type: 'expired' })
      .isIn('expired');
    asking({ expiresAt: 2 * runEnd })
      .when(startVerified(1, 2, []), runEnd)
      .accepts({ type: 'expired' });
  });
});

describe('while people are asked', () => {
  it('it can be called off', () => {
    asking().when(cancel, 1).accepts({ type: 'cancelled', by: 'ann' }).isIn('cancelled');
    turnedAway()
      .when(withdraw('olga'), 800)
      .accepts({ type: 'approval_withdrawn' })
      .when(cancel, 900)
      .accepts({ type: 'cancelled' });
  });

  /** Attempt 1 timed out, was twice absent, and then the policy was another. */
  const again = () => {
    const resend = sending()
      .when(verdict(1, silence), 8_000)
      .accepts({ type: 'outcome_unknown' })
      .when(lookup(absent, 38_000), 38_000)
      .accepts({ type: 'lookup_absent' })
      .when(lookup(absent, 43_000), 43_000)
      .accepts({ type: 'lookup_absent' }, { type: 'authorized', basis: 'absent' });
    return resend
      .when(startVerified(2, versionOf(resend), [], request('d2')), 44_000)
      .accepts({ type: 'approval_requested' })
      .isIn('awaiting_approval', { basis: 'absent', attempts: [{ verdict: 'absent' }] });
  };

  it('late news of an earlier attempt counts as it does otherwise', () => {
    const corrected = { type: 'corrected', finding: 'executed', breach: 'max_processing' } as const;
    const committed = { type: 'committed' } as const;
    again()
      .when(verdict(1, { kind: 'executed', data: {} }), 45_000)
      .accepts(corrected, committed);
    again()
      .when(verdict(1, { kind: 'accepted', data: {} }), 45_000)
      .accepts({ type: 'accepted' })
      .isIn('accepted');
    again().when(lookup(present(), 43_500), 45_000).accepts(corrected, committed).isIn('committed');
    again().when(lookup(absent, 43_500), 45_000).isUnchanged();
    again()
      .when(lookup({ kind: 'partial', data: {}, detail: 'half' }, 43_500), 45_000)
      .accepts({ type: 'dead_lettered', reason: 'partial_effect' });
    asking().when(lookup(present(), 1), 1).isUnchanged();
  });

  it('the resend that they agree to is the one that was due, within the time of its key', () => {
    const until = 200 + keyed.retentionMs - keyed.leaseMs;
    const resend = again()
      .when(approve('pete', 'd2'), 45_000)
      .accepts(approved, { ...cleared, resendUntil: until });
    resend
      .when(startVerified(2, versionOf(resend), ['d2']), until)
      .accepts({ type: 'outcome_unknown', cause: 'resend_window_closed' });
  });

  it('what may have run is not given up at the end of the time, and what provably did not run is', () => {
    const terms = { ...keyedWithoutProof, retentionMs: 2 * askedUntil };
    const open = asking({}, terms).when(approve('olga'), 100).accepts(approved, cleared);
    const sameKey = sending(open)
      .when(verdict(1, silence), 8_000)
      .accepts({ type: 'outcome_unknown' })
      .when(lookup(absent, 39_000), 39_000)
      .accepts({ type: 'authorized', basis: 'same_key' });
    sameKey.when(expire, askedUntil).isUnchanged();
    sameKey.when(startVerified(2, versionOf(sameKey), ['d1']), askedUntil).accepts({ type: 'attempt_started' });
    again().when(expire, askedUntil).accepts(expired);
    again().when(approve('pete', 'd2'), askedUntil).accepts(expired);
  });
});

const names = fc.constantFrom('olga', 'OLGA', 'pete', 'ann');
const digests = fc.constantFrom('d1', 'd2', 'd3');
/** Everything that a person or a clock can do to what is asked, by names and digests that are few enough to meet. */
const command: fc.Arbitrary<{ readonly after: number; readonly make: (intent: Intent) => Command }> = fc.record({
  after: fc.constantFrom(0, 1, 100, 1_000, 50_000, askedUntil / 4),
  make: fc.oneof(
    {
      weight: 8,
      arbitrary: fc.tuple(names, digests).map(
        ([name, digest]) =>
          () =>
            approve(name, digest),
      ),
    },
    {
      weight: 8,
      arbitrary: fc
        .record({
          matching: fc.oneof(fc.subarray(['d1', 'd2', 'd3']), fc.constant(['d1', 'd2', 'd3'])),
          renewed: fc.option(fc.constantFrom('d2', 'd3'), { freq: 2 }),
          stale: fc.constantFrom(0, 0, 0, 0, 1),
          quorum: fc.constantFrom(1, 2),
          ends: fc.constantFrom(askedUntil, askedUntil / 2),
        })
        .map(({ matching, renewed, stale, quorum, ends }) => ({ attempts, version }: Intent) => {
          const next = renewed === null ? null : request(renewed, { quorum, expiresAt: ends });
          return startVerified(attempts.length + 1, version - stale, matching, next);
        }),
    },
    {
      weight: 4,
      arbitrary: fc.constantFrom(refused('http_503', true), silence, { kind: 'accepted', data: {} } as const).map(
        (is) =>
          ({ attempts }: Intent) =>
            verdict(Math.max(1, attempts.length), is),
      ),
    },
    {
      weight: 4,
      arbitrary: fc
        .constantFrom(absent, absent, absent, present())
        .map((answer) => (intent: Intent) => lookup(answer, intent.since + 40_000)),
    },
    { weight: 2, arbitrary: names.map((name) => () => withdraw(name)) },
    fc.constantFrom<Command>(expire, cancel, { type: 'start_attempt', attemptId: 'unlooked' }).map((is) => () => is),
    fc.constant(() => refuse('pete')),
  ),
});
const commands = fc.array(command, { maxLength: 40, size: 'max' });
const first = fc
  .record({ quorum: fc.constantFrom(1, 1, 2), expiresAt: fc.constantFrom(askedUntil, askedUntil / 2) })
  .map((rest) => request('d1', rest));

describe('whatever happens in whatever order', () => {
  it('nothing is sent that was not agreed to in full, as it is, in time, by people who still stand by it', () => {
    let starts = 0;
    fc.assert(
      fc.property(first, commands, (asked, steps) => {
        const log: Recorded[] = [
          { event: recorded(), at: 0 },
          { event: { type: 'approval_requested', request: asked }, at: 0 },
        ];
        let now = 0;
        for (const { after, make } of steps) {
          now += after;
          const before = fold(log) as Intent;
          const given = make(before);
          const decision = decide(given, before, now);
          if (decision.kind !== 'accepted') continue;
          for (const event of decision.events) {
            if (event.type !== 'attempt_started') continue;
            starts += 1;
            expect(given.type).toBe('start_attempt');
            const { matching = [], version } = (given.type === 'start_attempt' && given.verified) || {};
            expect(version).toBe(before.version);
            const mayHaveRun = before.attempts.some((each) => each.verdict === 'absent');
            const agreedTo = before.approvals?.requests.filter(({ digest, quorum, expiresAt }) => {
              const people = before.approvals?.given.filter((each) => each.digest === digest) ?? [];
              const names = new Set(people.map((each) => each.by.toLowerCase()));
              const isInTime = now < expiresAt || mayHaveRun;
              return matching.includes(digest) && names.size >= quorum && !names.has('ann') && isInTime;
            });
            expect(agreedTo).not.toHaveLength(0);
            expect(before.attempts.every(({ verdict: is }) => is === 'not_executed' || is === 'absent')).toBe(true);
          }
          log.push(...decision.events.map((event) => ({ event, at: now })));
        }
      }),
      { numRuns: 3_000 },
    );
    expect(starts, 'the property is about something').toBeGreaterThan(100);
  });

  it('yes and no lead to at most one of them', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(1, 2),
        fc.array(fc.constantFrom('yes', 'no', 'start'), { maxLength: 8 }),
        (n, said) => {
          const log: Recorded[] = [
            { event: recorded(), at: 0 },
            { event: { type: 'approval_requested', request: request('d1', { quorum: n }) }, at: 0 },
          ];
          for (const [index, word] of said.entries()) {
            const before = fold(log) as Intent;
            const name = `p${index}`;
            const start = startVerified(1, before.version, ['d1']);
            const given = word === 'yes' ? approve(name) : word === 'no' ? refuse(name) : start;
            const decision = decide(given, before, index);
            if (decision.kind === 'accepted') log.push(...decision.events.map((event) => ({ event, at: index })));
          }
          const types = log.map(({ event }) => event.type);
          const { state, approvals } = fold(log) as Intent;
          expect(types.filter((type) => type === 'authorized').length).toBeLessThan(2);
          expect(types.filter((type) => type === 'denied').length).toBeLessThan(2);
          if (types.includes('denied')) expect([state, types.includes('attempt_started')]).toEqual(['denied', false]);
          const mayGo = said.slice(0, said.indexOf('no') < 0 ? said.length : said.indexOf('no'));
          const yeses = mayGo.filter((word) => word === 'yes').length;
          expect(types.includes('authorized')).toBe(yeses >= n);
          expect(approvals && newestOf(approvals).digest).toBe('d1');
        },
      ),
    );
  });

  it('it is never stuck: what nobody has ended can still be agreed to, sent, found out about or expire', () => {
    fc.assert(
      fc.property(first, commands, (asked, steps) => {
        const log: Recorded[] = [
          { event: recorded(), at: 0 },
          { event: { type: 'approval_requested', request: asked }, at: 0 },
        ];
        let now = 0;
        for (const { after, make } of steps) {
          now += after;
          const before = fold(log) as Intent;
          const decision = decide(make(before), before, now);
          if (decision.kind === 'accepted') log.push(...decision.events.map((event) => ({ event, at: now })));
        }
        let intent = fold(log) as Intent;
        if (isTerminal(intent) || (intent.state !== 'awaiting_approval' && intent.state !== 'authorized')) return;
        const digest = newestOf(intent.approvals as NonNullable<Intent['approvals']>).digest;
        const due = Math.max(now, intent.notBefore ?? 0);
        // What a dispatcher asks about first, people then agree to, and it goes out.
        for (const make of [
          (is: Intent) => startVerified(is.attempts.length + 1, is.version, [digest]),
          () => approve('one', digest),
          () => approve('two', digest),
          (is: Intent) => startVerified(is.attempts.length + 1, is.version, [digest]),
        ]) {
          const decision = decide(make(intent), intent, due);
          if (decision.kind !== 'accepted') continue;
          log.push(...decision.events.map((event) => ({ event, at: due })));
          intent = fold(log) as Intent;
        }
        expect(['dispatching', 'denied', 'expired', 'dead_lettered', 'unknown']).toContain(intent.state);
      }),
      { numRuns: 2_000 },
    );
  });
});
