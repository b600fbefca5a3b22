import type { LayerOfCases } from '../case.js';
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
