import { decide } from '@intendant/intent';
import { describe, expect, it } from 'vitest';
import { brokenApprovals, brokenRules } from './broken-rules.spec-helper.js';
import { properties } from './layer.js';
import { allProperties } from './properties.js';
import type { Decide } from './step.js';
import { tryProperty } from './try-property.js';

const anySeed = () => Math.floor(Math.random() * 2 ** 31);

describe('whatever happens, in whatever order', () => {
  it.each(allProperties)('$name', (property) => {
    const { found, lives } = tryProperty(property, decide, { seed: anySeed(), lives: 500 });
    expect(found).toBeNull();
    expect(lives).toBe(500);
  });
});

function firstBroken(rules: Decide, seed: number) {
  for (const property of allProperties) {
    const { found } = tryProperty(property, rules, { seed, lives: 2_000 });
    if (found) return { property, found };
  }
  return null;
}

describe('it is noticed when', () => {
  it.each(Object.entries({ ...brokenRules, ...brokenApprovals }))('%s', (_, rules) => {
    const seed = anySeed();
    const broken = firstBroken(rules, seed);
    expect(broken?.found.violation).toMatchObject({ rule: expect.any(String), message: expect.any(String) });
    if (!broken) return;
    const { seed: at, path, violation } = broken.found;
    const again = tryProperty(broken.property, rules, { seed: at, path, lives: 2_000 });
    expect(again.found?.violation).toEqual(violation);
  });
});

it('what a case of the layer was run with is what it can be run with again', async () => {
  const [first] = await properties.cases({ seed: 7, rounds: 1, short: true });
  const context = { machine: {} as never, dir: '', say: () => {}, following: [], signal: new AbortController().signal };
  const report = await first?.run(context);
  expect(report).toMatchObject({ layer: 'L0', violations: [], intents: 800, seed: 7 });
  const again = await properties.again(report?.replay ?? {}).run(context);
  expect(again.reached).toEqual(report?.reached);
  expect(() => properties.again({ story: 'S23' })).toThrow('not a replay');
});
