import { Resident } from './resident.js';
import { type Around, atMost, type Outcome, type Row, type Scenario, type Verdict } from './scenario.js';
import { Stage } from './stage.js';

const few = 1_000;
const bound = 1.2;

/** Resident memory of each process at the end of a load and once it is settled: the least of some samples. */
export const memory: Scenario = {
  name: 'memory',
  about: 'resident memory of each service after 100,000 intents, against after 1,000',
  async run(around: Around): Promise<Outcome> {
    const many = around.quick ? 10_000 : 100_000;
    const rows: Row[] = [];
    const verdicts: Verdict[] = [];
    const faults: string[] = [];
    for (const mode of around.modes) {
      const stage = await Stage.start(around, { mode });
      try {
        await stage.send(few, around.concurrency);
        const early = await atRest(stage);
        await stage.send(many - few, around.concurrency);
        const late = await atRest(stage);
        for (const [name, before] of Object.entries(early)) {
          const after = late[name] ?? Number.NaN;
          rows.push({ process: name, [`MiB after ${few}`]: before, [`after ${many}`]: after, ratio: after / before });
          verdicts.push(atMost(`${name}: memory after ${many} over after ${few}`, after / before, bound));
        }
        faults.push(...(await stage.faults()));
      } finally {
        await stage.stop();
      }
    }
    const notes = [`${around.concurrency} in flight; greatest of three seconds after everything had settled.`];
    return { rows, verdicts, faults, notes };
  },
};

const restMs = 3_000;

async function atRest(stage: Stage): Promise<Record<string, number>> {
  await stage.settle();
  const resident = new Resident(stage.processes).start();
  await new Promise((resolve) => setTimeout(resolve, restMs));
  return resident.stop().greatest(0, 1);
}
