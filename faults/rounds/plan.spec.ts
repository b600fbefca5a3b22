import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readRule } from '../../examples/upstream/read-rule.js';
import { misbehaviours } from './behaviours.js';
import { faultKinds } from './fault-kinds.js';
import { planRound } from './plan.js';
import { toolKinds } from './tools.js';
import { upstreamRules } from './upstream-rules.js';

const options = { short: false, shape: { oldNats: true } };
const seeds = Array.from({ length: 60 }, (_, n) => n + 1);
const plans = seeds.map((seed) => planRound(seed, options));

it('makes the same plan from the same seed, and it survives JSON', () => {
  expect(planRound(17, options)).toEqual(plans[16]);
  expect(JSON.parse(JSON.stringify(plans[16]))).toEqual(plans[16]);
  expect(planRound(18, options)).not.toEqual(plans[16]);
});

it('has every fault and every misbehaviour in some of sixty rounds, and all of them in none', () => {
  expect(new Set(plans.flatMap(({ faults }) => faults.map(({ kind }) => kind)))).toEqual(new Set(faultKinds));
  expect(new Set(plans.flatMap(({ profile }) => profile.misbehaviours))).toEqual(new Set(misbehaviours));
  for (const { profile } of plans) expect(profile.faults.length).toBeLessThan(faultKinds.length);
});

it('breaks few kinds and calls few tools in every second round, and by turns all of them', () => {
  const focused = plans.filter(({ seed }) => seed % 2 === 1);
  for (const { profile, intents } of focused) {
    expect(profile.faults).toHaveLength(4);
    expect(new Set(intents.map(({ tool }) => tool)).size).toBeLessThanOrEqual(profile.tools.length);
  }
  expect(new Set(focused.flatMap(({ profile }) => profile.faults))).toEqual(new Set(faultKinds));
  expect(new Set(focused.flatMap(({ profile }) => profile.tools))).toEqual(new Set(toolKinds));
});

it('leaves about half of what is only published to the stream alone', () => {
  const published = plans.flatMap(({ intents }) => intents.filter(({ via }) => via === 'nats_publish'));
  const alone = published.filter(({ steps }) => !steps.some((step) => step.kind === 'repeat'));
  expect(alone.length / published.length).toBeGreaterThan(0.3);
  expect(alone.length / published.length).toBeLessThan(0.5);
});

it('takes a cluster about as often as a single server, and an old one now and then', () => {
  const clusters = plans.filter(({ topology }) => topology.nats === 'cluster').length;
  expect(clusters).toBeGreaterThan(15);
  expect(clusters).toBeLessThan(45);
  expect(plans.some(({ topology }) => topology.natsVersion === 'old')).toBe(true);
  const current = { short: false, shape: { oldNats: false } };
  expect(seeds.some((seed) => planRound(seed, current).topology.natsVersion === 'old')).toBe(false);
});

it('breaks one thing in one way at a time, and nothing after the load', () => {
  fc.assert(
    fc.property(fc.nat(), fc.boolean(), (seed, short) => {
      const { faults, loadMs } = planRound(seed, { ...options, short });
      for (const { atMs, forMs } of faults) expect(atMs + forMs).toBeLessThanOrEqual(loadMs);
      const postgres = faults.filter(({ kind }) => kind.startsWith('postgres.'));
      postgres.slice(1).forEach(({ atMs }, i) => {
        const before = postgres[i];
        expect(atMs).toBeGreaterThan((before?.atMs ?? 0) + (before?.forMs ?? 0));
      });
    }),
    { numRuns: 50 },
  );
});

it('gives every intent a name that is no part of another', () => {
  const refs = plans.flatMap(({ intents }) => intents.map(({ ref }) => ref));
  expect(new Set(refs).size).toBe(refs.length);
  expect(new Set(refs.map(({ length }) => length)).size).toBe(1);
});

it('orders only what the upstream understands', () => {
  for (const rule of plans.slice(0, 12).flatMap(upstreamRules)) readRule(rule);
});

it('makes short rounds shorter', () => {
  const short = planRound(1, { ...options, short: true });
  expect(short.loadMs).toBeLessThan(25_000);
  expect(short.intents.length).toBeLessThan(200);
});
