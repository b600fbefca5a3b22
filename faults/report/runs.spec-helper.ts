import type { CaseReport } from '../case.js';
import { dangerousStates } from '../history/dangerous-states.js';
import type { TimelineLine } from '../history/violation.js';
import type { RunReport } from './run-report.js';

export function caseReport(name: string, change: Partial<CaseReport> = {}): CaseReport {
  return {
    ...{ name, layer: 'L5', violations: [], seed: 7, seconds: 90, intents: 300 },
    ...{ faults: { kill: 4, pause: 2 }, reached: {}, figures: {}, replay: { plan: name } },
    ...change,
  };
}

export function runReport(cases: readonly CaseReport[], change: Partial<RunReport> = {}): RunReport {
  const options = {
    layers: ['L5'],
    rounds: 2,
    short: false,
    replay: null,
    cases: [],
    html: '/home/somebody/page.html',
  };
  return {
    startedAt: Date.UTC(2026, 0, 2, 3, 4),
    seconds: 180,
    seed: 7,
    commit: 'abcdef0123456789',
    options,
    cases,
    ...change,
  };
}

export const story: readonly TimelineLine[] = [
  { at: 1_000, who: 'client', what: 'submit order-1 over http' },
  { at: 1_004.5, who: 'log', what: '3 attempt_started, attempt 1' },
  { at: 1_010, who: 'upstream', what: 'request POST /effects/x' },
  { at: 1_012, who: 'fault', what: 'kill dispatcher/1 (begin)' },
  { at: 4_250, who: 'upstream', what: 'request POST /effects/x (2 times)' },
  { at: null, who: 'dispatcher/1', what: 'out of memory' },
];

export const doubled = { rule: 'I1', message: 'intent 01 of keyed: 2 effects', intentId: '01', timeline: story };

/** One case that held, one that did not, one that could not be judged. */
export function mixedRun(): RunReport {
  const [first, second] = dangerousStates.map(({ name }) => name);
  return runReport([
    caseReport('round 7', { reached: { [first ?? '']: 12, [second ?? '']: 3 } }),
    caseReport('round 8', {
      ...{
        seed: 8,
        violations: [doubled, doubled, doubled, doubled],
        replayFile: '.intendant/faults/runs/x/2/replay.json',
      },
      ...{ reached: { [first ?? '']: 1_000 }, faults: { kill: 1 } },
    }),
    caseReport('S23', { layer: 'L4', intents: 1, seconds: 2.25, broken: 'the port was taken', faults: {} }),
    caseReport('idempotency_key', { layer: 'L1', intents: 0, figures: { states: 120_345 }, faults: {} }),
  ]);
}
