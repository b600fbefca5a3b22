import { describe, expect, test } from 'vitest';
import { check } from '../checker/check.js';
import { begun, committed } from '../checker/good-history.spec-helper.js';
import { HistoryWriter } from '../checker/history.spec-helper.js';
import { ownHistory } from './own-history.js';

/** Two intents; the second is on its way, and what it did already is too much. */
function history() {
  const writer = new HistoryWriter();
  begun(writer, 'ours', 'keyed')
    .request()
    .effect()
    .event('committed', committed(1, 'eff-ours-1'))
    .told('submit', 'committed', 'executed')
    .ends('committed', 'response');
  begun(writer, 'theirs', 'keyed')
    .request()
    .effect()
    .effect()
    .told('submit', 'dispatching', 'undecided')
    .ends('dispatching', null);
  const whole = writer.history();
  whole.database.outbox.push({ msgId: 'id-theirs-4', subject: 'intendant.events', payload: '{}' });
  whole.bus.consumers.push({ stream: 'INTENDANT_WORK', name: 'dispatcher', ackPending: 1, pending: 0 });
  return whole;
}

describe('the part of a history that is about some intents', () => {
  test('is judged without the others, which are still under way', () => {
    expect(check(history()).length).toBeGreaterThan(0);
    const own = ownHistory(history(), new Set(['ours']));
    expect(own.database.events.map(({ type }) => type)).toEqual([
      'recorded',
      'authorized',
      'attempt_started',
      'committed',
    ]);
    expect(own.ledger.map(({ kind }) => kind)).toEqual(['request', 'effect']);
    expect(check(own)).toEqual([]);
  });

  test('shows what is wrong with them', () => {
    const rules = check(ownHistory(history(), new Set(['theirs']))).map(({ rule }) => rule);
    expect(rules).toContain('I1');
    expect(rules).toContain('I3');
  });
});
