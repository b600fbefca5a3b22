import { describe, expect, it } from 'vitest';
import type { FaultEntry } from '../history/faults.js';
import { invariants } from '../history/violation.js';
import { badApprovals } from './bad-approvals.spec-helper.js';
import { badPublications } from './bad-bus.spec-helper.js';
import { badEffects } from './bad-effects.spec-helper.js';
import { badEnds } from './bad-ends.spec-helper.js';
import { type Parts, partsOf } from './bad-history.spec-helper.js';
import { badLogs } from './bad-log.spec-helper.js';
import { badSubmissions } from './bad-submissions.spec-helper.js';
import { badRequests } from './bad-wire.spec-helper.js';
import { check } from './check.js';
import { goodHistory } from './good-history.spec-helper.js';
import type { Editable } from './history.spec-helper.js';
import type { EffectLine } from './story.js';

const bad = {
  ...badEffects,
  ...badEnds,
  ...badRequests,
  ...badLogs,
  ...badPublications,
  ...badSubmissions,
  ...badApprovals,
};

function brokenIn(parts: Parts): string[] {
  return check(parts.h).map(({ rule, message }) => `${rule}: ${message}`);
}

describe('a history in which every promise is kept', () => {
  it('breaks nothing', () => {
    expect(brokenIn(partsOf(goodHistory()))).toEqual([]);
  });
});

describe('a history with one change', () => {
  it.each(Object.entries(bad))('names %s', (_, { rule, says, of = goodHistory, change }) => {
    const before = partsOf(of());
    expect(brokenIn(before)).toEqual([]);
    change(before);
    expect(brokenIn(before)).toEqual([expect.stringMatching(says)]);
    expect(brokenIn(before)[0]).toContain(`${rule}: `);
  });

  it('is there for every invariant', () => {
    const named = new Set<string>(Object.values(bad).map(({ rule }) => rule));
    expect(invariants.filter((rule) => !named.has(rule))).toEqual([]);
  });
});

describe('an effect of what people have not agreed to', () => {
  it.each([
    ['was refused', 'turned-down', /^I4: intent id-turned-down of keyed: denied, and there is 1 effect/],
    ['has expired', 'lapsed', /^I4: intent id-lapsed of keyed: denied, and there is 1 effect/],
    [
      'still waits',
      'waiting',
      /^I15: intent id-waiting of keyed: 1 effect, and nobody was sent for it: awaiting_approval for approval/,
    ],
  ])('is found where it %s', (_, ref, says) => {
    const parts = partsOf(goodHistory());
    const { at, argsHash } = parts.line('plain', 'effect') as EffectLine;
    const unasked = { kind: 'effect', path: '/effects/x', attemptId: null, externalId: 'eff-unasked' } as const;
    parts.h.ledger.push({ ...unasked, at, argsHash, key: `key-${ref}`, seq: 900 });
    expect(brokenIn(parts)).toContainEqual(expect.stringMatching(says));
  });
});

describe('what is excused', () => {
  /** Streams lost what they held, once, after the intent `found` had settled. */
  function losing(): Parts {
    const parts = partsOf(goodHistory());
    parts.h.meta.excuses.streamsLost = true;
    const at = parts.event('found', 'committed').committedAt + 1;
    parts.h.faults.push({ at, kind: 'nats.wipe', phase: 'begin', target: 'nats/0' });
    return parts;
  }

  it('is an event that was published before streams were lost, and none after', () => {
    const parts = losing();
    parts.drop(parts.h.bus.published, parts.published('found', 'committed'));
    expect(brokenIn(parts)).toEqual([]);
    parts.drop(parts.h.bus.published, parts.published('blind', 'dead_lettered'));
    expect(brokenIn(parts)).toEqual([expect.stringMatching(/I9: .*id-blind/)]);
  });

  it('is a submission that was acknowledged before streams were lost, and none after', () => {
    const parts = losing();
    const lost = { ...parts.answer('published'), requestId: 'r', ref: 'lost', stepId: 'lost' };
    parts.h.clients.push(lost);
    expect(brokenIn(parts)).toEqual([]);
    lost.at = parts.h.meta.healedAt;
    expect(brokenIn(parts)).toEqual([expect.stringMatching(/I2: .*acknowledged/)]);
  });

  it('is a submission that was refused and is kept, and none that could have been admitted later', () => {
    const parts = partsOf(goodHistory());
    parts.h.clients.push({ ...parts.answer('published'), requestId: 'r', ref: 'lost', stepId: 'lost' });
    const error = { code: 'unauthenticated' };
    const dead = { id: 'd', subject: 's', payload: '{"args":{"ref":"lost"}}', error };
    parts.h.database.deadMessages.push(dead);
    expect(brokenIn(parts)).toEqual([]);
    error.code = 'unavailable';
    expect(brokenIn(parts)).toEqual([expect.stringMatching(/I2: .*neither an intent nor a dead message/)]);
  });

  it('is the end of a process at a fault point, once for each', () => {
    const parts = partsOf(goodHistory());
    const [process] = parts.h.processes;
    Object.assign(process ?? {}, { crashes: 1 });
    const strike = { at: 1_000_000, kind: 'fault_point', phase: 'begin' as const, target: 'dispatcher/0' };
    parts.h.faults.push({ ...strike, happened: false }, { ...strike, kind: 'kill' });
    expect(brokenIn(parts)).toEqual([expect.stringMatching(/I13: /)]);
    parts.h.faults.push(strike);
    expect(brokenIn(parts)).toEqual([]);
    Object.assign(process ?? {}, { crashes: 2 });
    expect(brokenIn(parts)).toEqual([expect.stringMatching(/I13: /)]);
  });

  it('is nothing where a stream of a cluster lost one copy, or another stream its messages', () => {
    const parts = losing();
    parts.drop(parts.h.bus.published, parts.published('found', 'committed'));
    const wipe = parts.h.faults.at(-1) as Editable<FaultEntry>;
    const unpublished = [expect.stringMatching(/I9: .*id-found/)];
    parts.h.faults.unshift({ at: 900_000, kind: 'nats.kill', phase: 'begin', target: 'nats/2' });
    expect(brokenIn(parts)).toEqual(unpublished);
    const other = { ...wipe, target: 'nats/1', at: wipe.at + 1_000 };
    parts.h.faults.push(other);
    expect(brokenIn(parts)).toEqual([]);
    parts.h.faults.splice(parts.h.faults.indexOf(other), 1);
    Object.assign(wipe, { kind: 'nats.delete_stream', target: 'INTENDANT_WORK' });
    expect(brokenIn(parts)).toEqual(unpublished);
    wipe.target = 'INTENDANT_EVENTS';
    expect(brokenIn(parts)).toEqual([]);
  });

  it('is no distance of absences for a clock that is off', () => {
    const parts = partsOf(goodHistory());
    badRequests['a resend after absences that were too close']?.change(parts);
    parts.h.faults.push({ at: 1_000_000, kind: 'clock', phase: 'begin', target: 'reconciler/1' });
    expect(brokenIn(parts)).toHaveLength(1);
  });

  it('is what an upstream does beyond its limits after it was said not to happen', () => {
    const parts = partsOf(goodHistory());
    parts.h.meta.excuses.beyondLimits.push('refused');
    const { at, argsHash } = parts.line('refused', 'request') as EffectLine;
    const late = { ...parts.line('plain', 'effect'), key: 'key-refused', attemptId: 'refused-1', argsHash, seq: 900 };
    parts.h.ledger.push(Object.assign(late, { at: at + 1_001 }));
    expect(brokenIn(parts)).toEqual([]);
    // Within what its tool file says, nothing is excused by what was ordered.
    late.at = at + 999;
    expect(brokenIn(parts)).not.toEqual([]);
  });

  it('is what comes of a request that the network held up for longer than its tool allows', () => {
    const parts = partsOf(goodHistory());
    parts.h.meta.excuses.beyondLimits = [];
    expect(brokenIn(parts)).toEqual([expect.stringMatching(/I1: .*id-slow/)]);
    const { at } = parts.line('slow', 'request');
    const left = parts.h.sent?.find(({ attemptId }) => attemptId === 'slow-1');
    Object.assign(left ?? {}, { at: at - 999 });
    expect(brokenIn(parts)).toHaveLength(1);
    Object.assign(left ?? {}, { at: at - 1_001 });
    expect(brokenIn(parts)).toEqual([]);
  });

  it('is an event that is stored again after JetStream may have forgotten its id', () => {
    const parts = partsOf(goodHistory());
    parts.h.bus.published.push({ ...parts.published('blind', 'outcome_unknown') });
    expect(brokenIn(parts)).toHaveLength(1);
    parts.h.meta.frozenAt = parts.event('blind', 'outcome_unknown').committedAt + 120_001;
    expect(brokenIn(parts)).toEqual([]);
  });

  it('is a distance of absences that falls short while a reconciler is held up', () => {
    const parts = partsOf(goodHistory());
    badRequests['a resend after absences that were too close']?.change(parts);
    expect(brokenIn(parts)).toHaveLength(1);
    const at = parts.line('replayed', 'lookup').at;
    parts.h.faults.push({ at, kind: 'block', phase: 'begin', target: 'reconciler/1' });
    expect(brokenIn(parts)).toEqual([]);
  });
});

describe('the story of a violation', () => {
  it('has the lines of its intent and the faults that were there meanwhile, in order', () => {
    const parts = partsOf(goodHistory());
    parts.drop(parts.h.ledger, parts.line('found', 'effect'));
    const { intentId, timeline } = check(parts.h)[0] ?? {};
    expect(intentId).toBe('id-found');
    expect(timeline?.map(({ who, what }) => `${who}: ${what}`)).toEqual([
      'fault: pause dispatcher/0 (begin)',
      'log: 1 recorded',
      'log: 2 authorized, basis admitted',
      'log: 3 attempt_started, attempt 1, attemptId found-1',
      expect.stringMatching(/^upstream: request POST \/effects\/x, attempt found-1, body [0-9a-f]{8}$/),
      'log: 4 cancel_requested',
      'log: 5 outcome_unknown, cause aborted',
      'upstream: lookup: present',
      'log: 6 committed, attempt 1, proof lookup',
      'fault: pause dispatcher/0 (end)',
    ]);
  });

  it('says what is repeated once, and leaves out faults that did not happen or were over', () => {
    const parts = partsOf(goodHistory());
    const first = parts.line('blind', 'request');
    for (let i = 1; i <= 3; i += 1) parts.h.ledger.push({ ...first, seq: 900 + i, at: first.at + i });
    parts.h.faults.push({ at: first.at, kind: 'cut', phase: 'begin', target: 'x', happened: false });
    parts.h.faults.unshift({ at: 1_000_000, kind: 'cut', phase: 'begin', target: 'x' });
    const timeline = check(parts.h)[0]?.timeline ?? [];
    const again = /^request POST \/effects\/x, attempt blind-1, body [0-9a-f]{8} \(4 times, the last 3 ms later\)$/;
    expect(timeline.map(({ what }) => what)).toContainEqual(expect.stringMatching(again));
    expect(timeline.filter(({ who }) => who === 'fault')).toEqual([]);
  });
});
