import { expect, it } from 'vitest';
import { rounds } from './layer.js';
import { planRound } from './plan.js';

it('lists as many rounds as are wanted, from the seed on', async () => {
  const cases = await rounds.cases({ seed: 7, rounds: 3, short: true });
  expect(cases.map(({ name, layer }) => `${layer} ${name}`)).toEqual(['L5 round 7', 'L5 round 8', 'L5 round 9']);
});

it('runs a round again from its plan, and nothing else', () => {
  const plan = planRound(17, { short: true, shape: { oldNats: false } });
  expect(rounds.again({ plan: JSON.parse(JSON.stringify(plan)) }).name).toBe('round 17');
  expect(() => rounds.again({ seed: 17, path: '1:2' })).toThrow(/not the replay of a random round/);
});
