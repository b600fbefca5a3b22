import { afterEach, describe, expect, test } from 'vitest';
import { ConfigError } from './environment.js';
import { armFault, faultPoint, parseFault } from './fault-point.js';
import { runInProcess } from './run-in-process.spec-helper.js';

afterEach(() => armFault(null));

describe('a fault', () => {
  test('is a point, a visit and what happens then', () => {
    expect(parseFault('relay.after_claim:2:kill')).toEqual({ point: 'relay.after_claim', nth: 2, action: 'kill' });
  });

  test.each([
    '',
    'relay.after_claim',
    'relay.after_claim:0:kill',
    'relay.after_claim:1.5:kill',
    'relay.after_claim:x:kill',
    'relay.after_claim:1:explode',
    'relay.after_claim:1:kill:now',
    'nowhere:1:kill',
  ])('that reads "%s" is refused with what would be right', (text) => {
    expect(() => parseFault(text)).toThrow(ConfigError);
    expect(() => parseFault(text)).toThrow(/INTENDANT_FAULT must be .*kill\|pause\|throw.* door\.before_append/);
  });
});

describe('a fault point', () => {
  test('does nothing unless it is armed', () => {
    faultPoint('door.before_append');
    armFault(parseFault('door.after_append:1:throw'));
    faultPoint('door.before_append');
  });

  test('throws at the visit that was named, once', () => {
    armFault(parseFault('door.before_append:2:throw'));
    faultPoint('door.before_append');
    expect(() => faultPoint('door.before_append')).toThrow('fault at door.before_append');
    faultPoint('door.before_append');
  });

  test('starts to count anew when it is armed anew', () => {
    armFault(parseFault('door.before_append:1:throw'));
    expect(() => faultPoint('door.before_append')).toThrow();
    armFault(parseFault('door.before_append:1:throw'));
    expect(() => faultPoint('door.before_append')).toThrow();
  });

  test('kills the process on the spot', async () => {
    expect(await visitTwice('relay.after_claim:2:kill')).toMatchObject({
      output: 'first\n',
      signal: 'SIGKILL',
      code: null,
    });
  });

  test('leaves other processes alone', async () => {
    expect(await visitTwice('relay.after_publish:1:kill')).toMatchObject({
      output: 'first\nsecond\n',
      signal: null,
      code: 0,
    });
  });
});

/** Arms the fault in a process of its own, which visits `relay.after_claim` twice. */
function visitTwice(fault: string) {
  return runInProcess(
    './fault-point.ts',
    `module.armFault(module.parseFault('${fault}'));
    module.faultPoint('relay.after_claim');
    console.log('first');
    module.faultPoint('relay.after_claim');
    console.log('second');`,
  ).ended;
}
