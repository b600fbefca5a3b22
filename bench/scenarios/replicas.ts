import { spread } from '../statistics.js';
import { throughput } from './rounds.js';
import { type Around, atLeast, type Outcome, type Row, type Scenario, type Verdict } from './scenario.js';
import type { App } from './stage.js';

const most = 3;
/** Adding one may cost nothing; what is left is the noise of a shared machine. */
const bound = 0.9;

/** One, two and three dispatchers and policies beside one of each of the others. */
export const replicas: Scenario = {
  name: 'replicas',
  about: '1, 2 and 3 dispatchers and policies: no loss from adding one',
  async run(around: Around): Promise<Outcome> {
    const intents = around.quick ? 4_000 : 20_000;
    const counts = Array.from({ length: most }, (_, i) => i + 1);
    const measured: Map<number, { rate: number; cpu: number }>[] = [];
    const faults: string[] = [];
    for (let round = 0; round < around.rounds; round += 1) {
      const figures = new Map<number, { rate: number; cpu: number }>();
      for (const count of round % 2 === 0 ? counts : counts.toReversed()) {
        const apps: App[] = ['gateway', 'outbox-relay', 'reconciler'];
        for (let i = 0; i < count; i += 1) apps.push('policy', 'dispatcher');
        const setup = { mode: 'services' as const, apps };
        const got = await throughput(around, { setup, intents, concurrency: around.concurrency }, faults);
        figures.set(count, { rate: got.perSecond, cpu: got.cpuPer1000 });
      }
      measured.push(figures);
    }
    const of = (count: number, value: 'rate' | 'cpu') => measured.map((each) => each.get(count)?.[value] ?? Number.NaN);
    const over = (count: number, value: 'rate' | 'cpu') =>
      spread(of(count, value).map((each, round) => each / (of(1, value)[round] ?? Number.NaN))).median;
    const rows: Row[] = counts.map((count) => ({
      'of each': String(count),
      'intents/s': spread(of(count, 'rate')).median,
      'over one': over(count, 'rate'),
      'CPU over one': over(count, 'cpu'),
    }));
    const verdicts: Verdict[] = counts
      .slice(1)
      .map((count) => atLeast(`throughput with ${count} of each over one`, over(count, 'rate'), bound));
    return { rows, verdicts, faults, notes: [`${intents} intents, ${around.concurrency} in flight.`] };
  },
};
