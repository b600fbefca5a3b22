import { expect, test } from 'vitest';
import { policies, tools } from './policy.spec-helper.js';
import { readPolicyFiles } from './read-policy-files.js';

const rule = (name: string) => ({ name, then: 'allow' });

test('without a setting there is an empty set with a version, and everything is allowed', async () => {
  for (const folder of [null, '']) {
    const set = await readPolicyFiles(folder, tools);
    expect(set.version).toMatch(/^[0-9a-f]{16}$/);
    expect([set.default, set.rulesFor('acme'), set.rates('acme'), set.serviceKey('any', 'acme')]).toEqual([
      ...['allow', [], { perTenant: null }, null],
    ]);
  }
});

test('a tenant has the rules of the deployment and its own, and nobody else has those', () => {
  const set = policies(
    { rules: [rule('b')] },
    { tenant: 'acme', rules: [rule('a')] },
    { tenant: 'globex', rules: [rule('c')] },
  );
  const names = (tenant: string) => set.rulesFor(tenant).map(({ name }) => name);
  expect([names('acme'), names('globex'), names('initech')]).toEqual([['a', 'b'], ['b', 'c'], ['b']]);
});

test('the rate and the service keys of a tenant are its own, else those of the deployment', () => {
  const set = policies(
    { rates: { perTenant: '50/s' }, serviceKeys: { bot: { ceilings: { calls: 1 } } } },
    { tenant: 'acme', rates: { perTenant: '5/m' }, serviceKeys: { desk: { permissions: ['*'] } } },
  );
  expect(set.rates('acme').perTenant).toEqual({ count: 5, perMs: 60_000 });
  expect(set.rates('globex').perTenant).toEqual({ count: 50, perMs: 1000 });
  expect(set.serviceKey('bot', 'acme')?.ceilings).toEqual({
    ...{ calls: 1, wallClockMs: null, mutating: null, destructive: null, costMicros: null },
  });
  expect(set.serviceKey('desk', 'acme')?.permissions).toEqual(['*']);
  expect(set.serviceKey('desk', 'globex')).toBeNull();
  expect(set.serviceKey('constructor', 'acme')).toBeNull();
});
