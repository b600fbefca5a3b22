import { forbiddenTool } from '../requests.js';
import { compare, median, ratio } from './rounds.js';
import { type Around, atLeast, type Outcome, type Scenario } from './scenario.js';
import { toolFolder } from './tool-folder.js';

const bound = 0.7;
/** Callers that wait for what is unknown hold their place in the closed loop; with too few others it would idle. */
const inFlight = 512;

/** The unknown outcomes are 502s of writes that took effect: only the lookup of the reconciler settles them. */
export const mixed: Scenario = {
  name: 'mixed',
  about: '10 % unknown outcomes settled by lookup, 5 % denied, 20 % replays, against plain load',
  async run(around: Around): Promise<Outcome> {
    const tools = await toolFolder([{ name: forbiddenTool, permission: 'bench:forbidden' }]);
    const intents = around.quick ? 4_000 : 20_000;
    const outcome = { rows: [] as Outcome['rows'][number][], verdicts: [] as Outcome['verdicts'][number][] };
    const faults: string[] = [];
    try {
      for (const mode of around.modes) {
        const run = { setup: { mode, toolsDir: tools.path }, intents, concurrency: inFlight };
        const pairs = await compare(around, run, { ...run, blend: 'mixed' as const }, faults);
        const rate = ratio(pairs, (each) => each.perSecond);
        outcome.rows.push({
          system: mode,
          'plain/s': median(pairs, ({ plain }) => plain.perSecond),
          'mixed/s': median(pairs, ({ other }) => other.perSecond),
          ratio: rate,
          'all settled s later': median(pairs, ({ other }) => other.settleSeconds),
          'CPU ratio': ratio(pairs, (each) => each.cpuPer1000),
        });
        outcome.verdicts.push(atLeast(`${mode}: mixed over plain throughput`, rate, bound));
      }
    } finally {
      await tools.remove();
    }
    const notes = [
      `${intents} requests, ${inFlight} in flight, both ways. Lookups of the warm-up run within the measured time, the last ones after it.`,
      'The caller of an unknown outcome gives up waiting after 500 ms and is told that it is recorded; repetitions are answered from the first.',
    ];
    return { ...outcome, faults, notes };
  },
};
