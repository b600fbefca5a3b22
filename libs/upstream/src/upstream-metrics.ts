import type { LookupAnswer, PollAnswer, Verdict } from '@intendant/intent';
import { counter, gauge, histogram, monotonic, perLabels } from '@intendant/runtime';
import type { PreviewAnswer } from './adapter.js';

const attempts = counter({
  name: 'intendant_attempts_total',
  help: 'Attempts that ended, by verdict; also those that were not sent.',
  labels: ['tool', 'verdict'],
});
const duration = histogram(
  { name: 'intendant_attempt_seconds', help: 'From the start of a call until its verdict.', labels: ['tool'] },
  [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
);
const lookups = counter({
  name: 'intendant_lookups_total',
  help: 'Questions whether a request took effect, by answer.',
  labels: ['tool', 'answer'],
});
const polls = counter({
  name: 'intendant_polls_total',
  help: 'Questions what became of an accepted request, by answer.',
  labels: ['tool', 'answer'],
});
const previews = counter({
  name: 'intendant_previews_total',
  help: 'Questions what a call would change, by answer.',
  labels: ['tool', 'answer'],
});
const circuit = gauge({
  name: 'intendant_circuit_open',
  help: 'Circuit breaker of an upstream: 0 closed, 0.5 one attempt tries, 1 open.',
  labels: ['upstream'],
});

const attemptsOf = perLabels((tool: string, verdict: string) => attempts.labels(tool, verdict));
const durationOf = perLabels((tool: string) => duration.labels(tool));

/** `since` on the own monotonic clock. */
export function countAttempt(tool: string, { kind }: Verdict, since: number): void {
  attemptsOf(tool, kind).inc();
  durationOf(tool).observe((monotonic() - since) / 1_000);
}

export function countLookup(tool: string, { kind }: LookupAnswer): void {
  lookups.labels(tool, kind).inc();
}

export function countPoll(tool: string, { kind }: PollAnswer): void {
  polls.labels(tool, kind).inc();
}

export function countPreview(tool: string, { kind }: PreviewAnswer): void {
  previews.labels(tool, kind).inc();
}

export function showCircuit(upstream: string, state: 'closed' | 'trying' | 'open'): void {
  circuit.labels(upstream).set({ closed: 0, trying: 0.5, open: 1 }[state]);
}
