import { setTimeout as wait } from 'node:timers/promises';
import { Resident } from './resident.js';
import {
  type Around,
  atLeast,
  atMost,
  type Mode,
  type Outcome,
  type Row,
  type Scenario,
  type Verdict,
} from './scenario.js';
import { type App, Stage } from './stage.js';

const rateBound = 0.9;
const memoryBound = 1.2;
const warmUp = 2_000;
/** Once this little is left the last leases and polls decide, not the rate. */
const tail = 0.02;

/** With no effect for so long the drain has got stuck, in ms; longer than a lost announcement takes to come again. */
const stuckAfterMs = 90_000;

/** What is up while the backlog grows: everything else, or, where one process is everything, policy alone. */
const without: Record<Mode, readonly App[]> = {
  services: ['gateway', 'policy', 'outbox-relay', 'reconciler'],
  standalone: ['policy'],
};
const missing: Record<Mode, App> = { services: 'dispatcher', standalone: 'standalone' };

export const backlog: Scenario = {
  name: 'backlog',
  about: '100,000 authorized intents recorded while no dispatcher runs, then drained',
  async run(around: Around): Promise<Outcome> {
    const count = around.quick ? 10_000 : 100_000;
    const rows: Row[] = [];
    const verdicts: Verdict[] = [];
    const faults: string[] = [];
    for (const mode of around.modes) {
      const stage = await Stage.start(around, { mode });
      try {
        await stage.send(warmUp, around.concurrency);
        await stage.database.prepare();
        const intents = around.quick ? 4_000 : 20_000;
        const peak = intents / (await stage.send(intents, around.concurrency)).seconds;
        const { rate, tenths, resident } = await recordAndDrain(stage, mode, count);
        const grown = resident.growth();
        const worker = missing[mode];
        rows.push({
          system: mode,
          'peak/s': peak,
          'drained/s': rate,
          ratio: rate / peak,
          'slowest tenth/s': Math.min(...tenths),
          'fastest tenth/s': Math.max(...tenths),
          [`MiB of the one that drains, 1st half`]: resident.greatest(0, 0.5)[worker] ?? Number.NaN,
          '2nd half': resident.greatest(0.5, 1)[worker] ?? Number.NaN,
        });
        verdicts.push(atLeast(`${mode}: drain rate over peak`, rate / peak, rateBound));
        verdicts.push(atMost(`${mode}: memory, 2nd over 1st half, most in ${grown.name}`, grown.factor, memoryBound));
        faults.push(...(await stage.faults()));
      } finally {
        await stage.stop();
      }
    }
    const notes = [
      `${count} intents. The peak is the closed loop with ${around.concurrency} in flight before the dispatcher was stopped.`,
      'The rate counts from when the new dispatcher says it is ready until 98 % of the effects are at the upstream.',
    ];
    return { rows, verdicts, faults, notes };
  },
};

interface Drained {
  readonly rate: number;
  /** Rates of the first, second … tenth of the backlog: whether it flows or comes in gusts. */
  readonly tenths: readonly number[];
  readonly resident: Resident;
}

async function recordAndDrain(stage: Stage, mode: Mode, count: number): Promise<Drained> {
  await stage.settle();
  await stage.remove(missing[mode]);
  await stage.add(without[mode].filter((app) => !stage.processes.has(app)));
  await stage.record(count);
  const waiting = await stage.open();
  if (waiting !== count) throw new Error(`${count} intents were recorded, but ${waiting} wait for a dispatcher`);
  await stage.database.prepare();
  if (mode === 'standalone') await stage.remove('policy');
  const before = (await stage.effects()).effects;
  await stage.add([missing[mode]]);
  const from = performance.now();
  const already = (await stage.effects()).effects - before;
  const resident = new Resident(stage.processes).start();
  const enough = Math.floor(count * (1 - tail));
  let done = already;
  const reached = [from];
  for (let moved = from; done < enough; ) {
    await wait(50);
    const now = performance.now();
    const effects = (await stage.effects()).effects - before;
    if (effects > done) moved = now;
    else if (now - moved > stuckAfterMs) throw new Error(`STUCK: ${effects} of ${count} are drained and no more come`);
    done = effects;
    while (reached.length <= 10 && done - already >= ((enough - already) * reached.length) / 10) reached.push(now);
  }
  const seconds = (performance.now() - from) / 1000;
  const tenths = reached.slice(1).map((at, i) => ((enough - already) * 100) / (at - (reached[i] ?? at)));
  return { rate: (done - already) / seconds, tenths, resident: resident.stop() };
}
