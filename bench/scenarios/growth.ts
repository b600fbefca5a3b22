import { BenchDatabase } from '../database.js';
import { fill } from './fill.js';
import { type Compared, compare, median, ratio, type Throughput } from './rounds.js';
import { type Around, atLeast, atMost, type Outcome, type Row, type Scenario, type Verdict } from './scenario.js';
import { Stage } from './stage.js';

const least = 0.9;
const most = 1.1;
/** Enough for fifty to be copied. */
const templates = 200;

/** The same load on a database with a long past and on an empty one. */
export const growth: Scenario = {
  name: 'growth',
  about: '10 million committed intents in the log, against none',
  async run(around: Around): Promise<Outcome> {
    const count = around.fill ?? (around.quick ? 200_000 : 10_000_000);
    const database = await BenchDatabase.create(around.installation, { migrated: true });
    const rows: Row[] = [];
    const verdicts: Verdict[] = [];
    const faults: string[] = [];
    try {
      const { seconds, gigabytes } = await past(around, database, count);
      for (const mode of around.modes) {
        const intents = around.quick ? 4_000 : 20_000;
        const empty = { setup: { mode }, intents, concurrency: around.concurrency, singles: 300 };
        const filled = { ...empty, setup: { mode, database } };
        const pairs = await compare(around, empty, filled, faults);
        rows.push(rowOf(`${mode}, empty`, pairs, ({ plain }) => plain));
        rows.push(rowOf(`${mode}, ${count}`, pairs, ({ other }) => other));
        verdicts.push(
          atLeast(
            `${mode}: throughput over empty`,
            ratio(pairs, (each) => each.perSecond),
            least,
          ),
          atMost(
            `${mode}: CPU over empty`,
            ratio(pairs, (each) => each.cpuPer1000),
            most,
          ),
          atMost(
            `${mode}: p50 over empty`,
            ratio(pairs, (each) => each.p50Single),
            most,
          ),
          atMost(
            `${mode}: p99 over empty`,
            ratio(pairs, (each) => each.p99Single),
            most,
          ),
        );
      }
      const notes = [`Filling took ${seconds.toFixed(0)} s; the database has ${gigabytes.toFixed(2)} GiB.`];
      return { rows, verdicts, faults, notes };
    } finally {
      await database.drop(around.installation);
    }
  },
};

/** A few real intents first: they are what is copied. */
async function past(around: Around, database: BenchDatabase, count: number) {
  const stage = await Stage.start(around, { mode: 'standalone', database });
  try {
    await stage.send(templates, 32);
    await stage.settle();
  } finally {
    await stage.stop();
  }
  return fill(database, count, around.say);
}

function rowOf(system: string, pairs: readonly Compared[], of: (each: Compared) => Throughput): Row {
  const figure = (value: (each: Throughput) => number) => median(pairs, (each) => value(of(each)));
  return {
    system,
    'intents/s': figure((each) => each.perSecond),
    'CPU s per 1,000': figure((each) => each.cpuPer1000),
    'p50 ms': figure((each) => each.p50Single),
    'p99 ms': figure((each) => each.p99Single),
  };
}
