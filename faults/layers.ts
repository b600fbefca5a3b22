import type { FaultCase, LayerOfCases, Replay } from './case.js';
import { exploration, properties } from './model/layer.js';
import type { Options } from './options.js';
import { points } from './points/layer.js';
import { races } from './races/layer.js';
import { rounds } from './rounds/layer.js';
import { stories } from './stories/layer.js';

/** From the cheapest to the dearest. */
export const allLayers: readonly LayerOfCases[] = [properties, exploration, races, points, stories, rounds];

/**
 * The cases that the options ask for; those that are named, of whatever layer.
 *
 * @throws with a message for the user when a case is named that does not exist
 */
export async function chosenCases(options: Options): Promise<FaultCase[]> {
  const wanted = allLayers.filter(({ layer }) => options.layers.includes(layer));
  const cases = (await Promise.all(wanted.map((layer) => layer.cases(options)))).flat();
  if (options.cases.length === 0) return cases;
  return options.cases.map((name) => {
    const alone = wanted.flatMap((layer) => layer.named?.(name) ?? []);
    const found = alone[0] ?? cases.find((each) => each.name === name);
    if (found === undefined) throw new Error(`--case: there is no case "${name}"; --list names all of them`);
    return found;
  });
}

/** @throws with a message for the user when the file is not one that a failed case wrote. */
export function caseAgain(text: string): FaultCase {
  const written = parse(text);
  const layer = allLayers.find((each) => each.layer === written?.layer);
  if (layer === undefined || written?.replay === undefined) {
    throw new Error('--replay: the file is not one that a failed case wrote: it names no layer, or has no `replay`');
  }
  return layer.again(written.replay);
}

function parse(text: string): { layer?: unknown; replay?: Replay } | null {
  try {
    return JSON.parse(text) as { layer?: unknown; replay?: Replay } | null;
  } catch (error) {
    throw new Error(`--replay: the file is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
