import { spreadTool, spreadTools } from '../requests.js';
import { compare, median, ratio } from './rounds.js';
import { type Around, atLeast, atMost, type Outcome, type Row, type Scenario, type Verdict } from './scenario.js';
import { toolFolder } from './tool-folder.js';

const bound = 0.9;

/** A large registry, all of it in use: the submits go through all the tools in turn. */
export const tools: Scenario = {
  name: 'tools',
  about: '1,000 tools in the registry, all of them called in turn, against one',
  async run(around: Around): Promise<Outcome> {
    const names = Array.from({ length: spreadTools }, (_, n) => ({ name: spreadTool(n) }));
    const folder = await toolFolder(names);
    const intents = around.quick ? 4_000 : 20_000;
    const rows: Row[] = [];
    const verdicts: Verdict[] = [];
    const faults: string[] = [];
    try {
      for (const mode of around.modes) {
        const plain = { setup: { mode }, intents, concurrency: around.concurrency, singles: 300 };
        const many = { ...plain, setup: { mode, toolsDir: folder.path }, blend: 'spread' as const };
        const pairs = await compare(around, plain, many, faults);
        const rate = ratio(pairs, (each) => each.perSecond);
        const p50 = ratio(pairs, (each) => each.p50Single);
        rows.push({
          system: mode,
          '1 tool/s': median(pairs, ({ plain: each }) => each.perSecond),
          '1,000 tools/s': median(pairs, ({ other }) => other.perSecond),
          ratio: rate,
          'p50 ratio': p50,
          'CPU ratio': ratio(pairs, (each) => each.cpuPer1000),
        });
        verdicts.push(atLeast(`${mode}: throughput with 1,000 tools over one`, rate, bound));
        verdicts.push(atMost(`${mode}: p50 one at a time with 1,000 tools over one`, p50, 1 / bound));
      }
    } finally {
      await folder.remove();
    }
    return { rows, verdicts, faults, notes: [`${intents} intents, ${around.concurrency} in flight; then 300 singly.`] };
  },
};
