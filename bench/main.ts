import { writeFile } from 'node:fs/promises';
import { measureCeiling } from './ceiling.js';
import type { Figures } from './figures.js';
import { readInstallation } from './installation.js';
import { measure } from './measure.js';
import { Messages } from './messages.js';
import { type Options, readOptions, usage } from './options.js';
import { summarize, toText } from './report.js';

/** Measures every system once a round, in another order each time, so that none always has the quieter minute. */
async function run(options: Options): Promise<void> {
  const installation = readInstallation(process.env['RUN_FILE']);
  const messages = await Messages.open(installation.natsUrl);
  try {
    const ceiling = await measureCeiling(installation.natsUrl, options.concurrency);
    const measurements: Figures[] = [];
    for (let round = 1; round <= options.rounds; round += 1) {
      const turn = round % options.systems.length;
      for (const system of [...options.systems.slice(turn), ...options.systems.slice(0, turn)]) {
        const figures = await measure(system, round, { installation, messages, options });
        measurements.push(figures);
        const { perSecond, cpuTotal, oneAtATime } = figures;
        const short = `${perSecond.toFixed(0)}/s, ${cpuTotal.toFixed(3)} CPU s per 1,000, p50 ${oneAtATime.p50.toFixed(2)} ms`;
        process.stdout.write(`round ${round}, ${system}: ${short}\n`);
      }
    }
    const report = summarize(options, ceiling, measurements);
    process.stdout.write(`\n${toText(report)}\n`);
    if (options.json !== null) await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`);
  } finally {
    await messages.close();
  }
}

try {
  if (process.argv.includes('--help')) process.stdout.write(`${usage}\n`);
  else await run(readOptions(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
