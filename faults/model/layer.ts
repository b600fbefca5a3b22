import type { LayerOfCases } from '../case.js';
import { boundsOf } from './bounds.js';
import { explorationCase } from './exploration-case.js';
import { allProperties } from './properties.js';
import { propertyCase } from './property-case.js';

/** Lives per property. */
const lives = { short: 800, long: 20_000 };

export const properties: LayerOfCases = {
  layer: 'L0',
  title: 'random lives of one intent under the pure rules, in the worst world that its tool file allows',
  cases: async ({ seed, short }) =>
    allProperties.map((property) => propertyCase(property, { seed, lives: short ? lives.short : lives.long })),
  again: ({ property: name, seed, lives, path }) => {
    const property = allProperties.find((p) => p.name === name);
    if (!property || typeof seed !== 'number' || typeof lives !== 'number') {
      throw new Error(
        'not a replay of the layer L0: it names a property of faults/model/properties.ts, seed and lives',
      );
    }
    return propertyCase(property, { seed, lives, ...(typeof path === 'string' ? { path } : {}) });
  },
};

const guarantees = ['idempotency_key', 'conditional_create', 'lookup', 'none'] as const;

export const exploration: LayerOfCases = {
  layer: 'L1',
  title: 'every order of steps of two dispatchers, two reconcilers and the upstream on one intent, within bounds',
  cases: async ({ short }) => guarantees.map((guarantee) => explorationCase(guarantee, boundsOf(guarantee, short))),
  again: ({ guarantee: name, bounds: names }) => {
    const guarantee = guarantees.find((g) => g === name);
    if (!guarantee || !Array.isArray(names)) {
      throw new Error('not a replay of the layer L1: it names a guarantee and bounds of faults/model/bounds.ts');
    }
    const all = [...boundsOf(guarantee, true), ...boundsOf(guarantee, false)];
    return explorationCase(
      guarantee,
      names.map((wanted) => {
        const bounds = all.find((each) => each.name === wanted);
        if (!bounds) throw new Error(`there are no bounds "${wanted}" in faults/model/bounds.ts`);
        return bounds;
      }),
    );
  },
};
