import { compare, median, ratio } from './rounds.js';
import { type Around, atLeast, type Outcome, type Row, type Scenario, type Verdict } from './scenario.js';

const bound = 0.9;

/** Many open runs, each submitting in turn: no run is asked for twice while anything could remember it. */
export const runs: Scenario = {
  name: 'runs',
  about: '10,000 open runs that submit in turn, against 8',
  async run(around: Around): Promise<Outcome> {
    const count = around.quick ? 2_000 : 10_000;
    const intents = around.quick ? 4_000 : 20_000;
    const rows: Row[] = [];
    const verdicts: Verdict[] = [];
    const faults: string[] = [];
    for (const mode of around.modes) {
      const plain = { setup: { mode }, intents, concurrency: around.concurrency };
      const pairs = await compare(around, plain, { ...plain, setup: { mode, runs: count } }, faults);
      const rate = ratio(pairs, (each) => each.perSecond);
      rows.push({
        system: mode,
        'with 8 runs/s': median(pairs, ({ plain: each }) => each.perSecond),
        [`with ${count} runs/s`]: median(pairs, ({ other }) => other.perSecond),
        ratio: rate,
        'CPU ratio': ratio(pairs, (each) => each.cpuPer1000),
      });
      verdicts.push(atLeast(`${mode}: throughput with ${count} runs over 8`, rate, bound));
    }
    return { rows, verdicts, faults, notes: [`${intents} intents, ${around.concurrency} in flight.`] };
  },
};
