import type { LayerOfCases } from './case.js';

/** From the cheapest to the dearest. */
export const allLayers: readonly LayerOfCases[] = [];
