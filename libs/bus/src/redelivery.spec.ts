import { describe, expect, it } from 'vitest';
import { FailureCounts, redeliveryDelay } from './redelivery.js';

describe('redelivery', () => {
  it('doubles the delay from 200 ms to 30 s, half of it random', () => {
    expect(redeliveryDelay(1, 0)).toBe(100);
    expect(redeliveryDelay(1, 0.999_999)).toBe(200);
    expect(redeliveryDelay(4, 0)).toBe(800);
    expect(redeliveryDelay(4, 0.999_999)).toBe(1_600);
    expect(redeliveryDelay(9, 0)).toBe(15_000);
    expect(redeliveryDelay(1_000_000, 0.999_999)).toBe(30_000);
  });

  it('counts failures per message until it succeeds', () => {
    const counts = new FailureCounts();
    expect([counts.failed('a'), counts.failed('a'), counts.failed('b')]).toEqual([1, 2, 1]);
    counts.succeeded('a');
    expect(counts.failed('a')).toBe(1);
  });

  it('forgets the message that failed longest ago when there are too many', () => {
    const counts = new FailureCounts(2);
    counts.failed('a');
    counts.failed('b');
    counts.failed('a');
    counts.failed('c');
    expect(counts.failed('a')).toBe(3);
    expect(counts.failed('b')).toBe(1);
  });
});
