import { expect, test } from 'vitest';
import { figuresOf, loadOf } from './figures.spec-helper.js';
import { ratiosAtConcurrency, ratiosOf } from './ratios.js';

const latency = (p50: number, p99: number) => ({ oneAtATime: { p50, p95: p99, p99 } });

test('a ratio is taken within a round, and its spread over the rounds', () => {
  const { throughput_vs_afternoon } = ratiosOf([
    figuresOf('afternoon', 1, { perSecond: 1_000 }),
    figuresOf('standalone', 1, { perSecond: 2_000 }),
    figuresOf('standalone', 2, { perSecond: 1_500 }),
    figuresOf('afternoon', 2, { perSecond: 500 }),
    figuresOf('afternoon', 3, { perSecond: 4_000 }),
    figuresOf('standalone', 3, { perSecond: 4_000 }),
  ]);
  expect(throughput_vs_afternoon).toEqual({ standalone: { median: 2, least: 1, greatest: 3 } });
});

test('the best peer is the best of the same round, and never the afternoon version', () => {
  const { throughput_vs_best_peer, p50_vs_fastest_peer } = ratiosOf([
    figuresOf('afternoon', 1, { perSecond: 9_000, ...latency(0.1, 1) }),
    figuresOf('dbos', 1, { perSecond: 400, ...latency(4, 40) }),
    figuresOf('restate', 1, { perSecond: 1_000, ...latency(8, 16) }),
    figuresOf('services', 1, { perSecond: 2_000, ...latency(6, 12) }),
    figuresOf('dbos', 2, { perSecond: 800, ...latency(4, 40) }),
    figuresOf('restate', 2, { perSecond: 500, ...latency(3, 16) }),
    figuresOf('services', 2, { perSecond: 2_000, ...latency(6, 12) }),
  ]);
  expect(throughput_vs_best_peer).toEqual({ services: { median: 2.25, least: 2, greatest: 2.5 } });
  expect(p50_vs_fastest_peer).toEqual({ services: { median: 1.75, least: 1.5, greatest: 2 } });
});

test('each peer that is named in a ratio is the one that is divided by', () => {
  const ratios = ratiosOf([
    figuresOf('standalone', 1, { cpuTotal: 0.3, ...latency(6, 12) }),
    figuresOf('afternoon', 1, { cpuTotal: 0.6, ...latency(1, 2) }),
    figuresOf('restate', 1, latency(8, 16)),
    figuresOf('dbos', 1, latency(3, 24)),
    figuresOf('graphile-worker', 1, latency(4, 8)),
  ]);
  const medians = Object.fromEntries(
    Object.entries(ratios).map(([name, { standalone }]) => [name, standalone?.median ?? null]),
  );
  expect(medians).toEqual({
    throughput_vs_best_peer: 1,
    throughput_vs_afternoon: 1,
    cpu_vs_afternoon: 0.5,
    p50_vs_fastest_peer: 2,
    p50_vs_restate: 0.75,
    p50_vs_graphile: 1.5,
    p50_vs_afternoon: 6,
    p99_vs_restate: 0.75,
    p99_vs_dbos: 0.5,
  });
});

test('what was not measured has no ratio', () => {
  expect(ratiosOf([figuresOf('standalone', 1), figuresOf('services', 1)])).toEqual({});
  expect(ratiosOf([figuresOf('standalone', 1), figuresOf('afternoon', 2)])).toEqual({});
  expect(ratiosOf([figuresOf('afternoon', 1), figuresOf('dbos', 1)])).toEqual({});
});

test('further loads have ratios of throughput and CPU, each with the same number in flight', () => {
  const further = (at32: number, at8: number) => ({
    further: [loadOf(32, { perSecond: at32 }), loadOf(8, { perSecond: at8 })],
  });
  const ratios = ratiosAtConcurrency([
    figuresOf('standalone', 1, further(900, 300)),
    figuresOf('afternoon', 1, further(1_000, 600)),
    figuresOf('dbos', 1, further(300, 200)),
  ]);
  expect(Object.keys(ratios)).toEqual(['8', '32']);
  expect(Object.keys(ratios['32'] ?? {})).toEqual([
    'throughput_vs_best_peer',
    'throughput_vs_afternoon',
    'cpu_vs_afternoon',
  ]);
  expect(ratios['32']?.throughput_vs_afternoon?.standalone?.median).toBe(0.9);
  expect(ratios['32']?.throughput_vs_best_peer?.standalone?.median).toBe(3);
  expect(ratios['8']?.throughput_vs_afternoon?.standalone?.median).toBe(0.5);
  expect(ratios['8']?.throughput_vs_best_peer?.standalone?.median).toBe(1.5);
});
