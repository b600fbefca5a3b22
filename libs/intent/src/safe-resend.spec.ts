import { expect, test } from 'vitest';
import { safeResendUntil } from './follow-up.js';
import { admitted, type Scenario } from './given.spec-helper.js';
import {
  accepted202,
  executed,
  keyed,
  keyedWithoutLookup,
  lookupOnly,
  noGuarantee,
  silence,
  start,
  verdict,
} from './samples.spec-helper.js';
import type { Terms } from './terms.js';

const until = ({ intent }: Scenario) => (intent ? safeResendUntil(intent) : undefined);
/** First attempt at 1 s; the key is kept for an hour from then, and a request may leave until its lease of 10 s ends. */
const sent = (terms: Terms) => admitted(terms).when(start(1), 1_000).accepts({ type: 'attempt_started' });
const forgotten = 1_000 + 3_600_000 - 10_000;

test('before anything was sent there is no such time', () => {
  expect(until(admitted(keyed))).toBeNull();
});

test.each([
  ['with a lookup', keyed],
  ['without one', keyedWithoutLookup],
])('while the upstream knows the key, until the last moment a request could still leave in time: %s', (_, terms) => {
  const open = sent(terms);
  expect(until(open)).toBe(forgotten);
  const lost = open.when(verdict(1, silence), 9_000).accepts({ type: 'outcome_unknown' });
  expect(until(lost)).toBe(forgotten);
});

test.each([
  ['a lookup alone', lookupOnly],
  ['nothing', noGuarantee],
])('an upstream that keeps no keys has none: %s', (_, terms) => {
  expect(until(sent(terms))).toBeNull();
});

test('what was taken on or is over is not sent again', () => {
  expect(until(sent(keyed).when(verdict(1, accepted202), 2_000).accepts({ type: 'accepted' }))).toBeNull();
  expect(until(sent(keyed).when(verdict(1, executed()), 2_000).accepts({ type: 'committed' }))).toBeNull();
});
