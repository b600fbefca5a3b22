import { decide } from '@intendant/intent';
import { describe, expect, it } from 'vitest';
import { boundsOf } from './bounds.js';
import { brokenRules } from './broken-rules.spec-helper.js';
import { explore } from './explore.js';
import { exploration } from './layer.js';
import type { Bounds } from './world.js';

const never = new AbortController().signal;

/** Clocks are right and lookups at once, which leaves few states. */
function small(guarantee: 'lookup' | 'idempotency_key' | 'conditional_create', of: Partial<Bounds> = {}): Bounds {
  const [bounds] = boundsOf(guarantee, true);
  if (!bounds) throw new Error(`no bounds for ${guarantee}`);
  return { ...bounds, skew: 0, lookupLag: 0, horizon: 5, ...of };
}

describe('every order of steps', () => {
  it.each(['lookup', 'idempotency_key', 'conditional_create'] as const)(
    'keeps the promise of %s',
    async (guarantee) => {
      const explored = await explore(decide, small(guarantee), never);
      expect(explored.violation).toBeNull();
      expect(explored.whole).toBe(true);
      expect(explored.reached).toMatchObject({ resend: expect.any(Number), 'settle wait': expect.any(Number) });
    },
  );

  it('is the same every time', async () => {
    const bounds = small('idempotency_key');
    expect(await explore(decide, bounds, never)).toEqual(await explore(decide, bounds, never));
  });
});

describe('a shortest way is found and told when', () => {
  it.each(Object.entries(brokenRules))('%s', async (_, rules) => {
    const { violation } = await explore(rules, small('lookup'), never);
    expect(violation).toMatchObject({ rule: expect.stringMatching(/^I/) });
    expect(violation?.timeline.at(-1)?.what).not.toBe('');
    expect(violation?.timeline.length).toBeLessThan(20);
  });

  it('a finding is believed to be older than the attempt that may have made it', async () => {
    const { violation } = await explore(
      (command, intent, now) =>
        decide(command.type === 'record_lookup' ? { ...command, answeredAt: 0 } : command, intent, now),
      small('lookup'),
      never,
    );
    expect(violation).toMatchObject({ rule: 'I4', message: 'a second effect is on record, and there is one' });
  });

  it('nobody is told of an outcome that is never found out', async () => {
    const { violation } = await explore(
      (command, intent, now) =>
        command.type === 'expire_lease' ? { kind: 'unchanged' } : decide(command, intent, now),
      small('lookup'),
      never,
    );
    expect(violation).toMatchObject({ rule: 'I3' });
  });
});

it('runs again what a report names, and nothing else', async () => {
  const { bounds } = { bounds: boundsOf('none', true).map(({ name }) => name) };
  expect(exploration.again({ guarantee: 'none', bounds }).name).toBe('exploration none');
  expect(() => exploration.again({ guarantee: 'none', bounds: ['other'] })).toThrow('there are no bounds "other"');
  expect(() => exploration.again({ seed: 1 })).toThrow('not a replay of the layer L1');
});
