import { describe, expect, it } from 'vitest';
import { MachineTime } from './machine-time.js';

describe('the time of this machine', () => {
  it('follows a system clock that is set right little by little, and never steps back', () => {
    let steady = 0;
    // The steady clock is 50 ppm too slow, then as much too fast.
    let truth = 1_000_000;
    const time = new MachineTime(
      () => Math.floor(truth),
      () => steady,
    );
    let last = 0;
    let worst = 0;
    let backwards = 0;
    for (let i = 0; i < 20_000; i += 1) {
      steady += 7.3;
      truth += 7.3 * (i < 10_000 ? 1.000_05 : 0.999_95);
      const now = time.now();
      worst = Math.max(worst, Math.abs(now - truth));
      if (now < last) backwards += 1;
      last = now;
    }
    expect(worst).toBeLessThan(1.1);
    expect(backwards).toBe(0);
  });

  it('is a fraction finer than the system clock', () => {
    let steady = 0.25;
    const time = new MachineTime(
      () => 1_000 + Math.floor(steady),
      () => steady,
    );
    time.now();
    steady = 1;
    time.now();
    steady = 1.5;
    expect(time.now()).toBeCloseTo(1_001.5, 1);
  });

  it('is not ahead when the machine does something else between its looks at the two clocks', () => {
    let truth = 1_000;
    let asleep = 12;
    const thenAsleep = (time: number) => {
      truth += asleep;
      return time;
    };
    const time = new MachineTime(
      () => thenAsleep(truth),
      () => thenAsleep(truth - 1_000),
    );
    time.now();
    asleep = 0;
    expect(time.now()).toBeLessThanOrEqual(truth);
  });
});
