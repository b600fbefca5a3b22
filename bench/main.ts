import { writeFile } from 'node:fs/promises';
import { measureCeiling } from './ceiling.js';
import { checkDocument, writeDocument } from './document.js';
import type { Figures } from './figures.js';
import { type Judgement, judge, measureForGuard, toLines } from './guard.js';
import { readInstallation } from './installation.js';
import { measure } from './measure.js';
import { Messages } from './messages.js';
import { type Options, readOptions, usage } from './options.js';
import { summarize, toText } from './report.js';
import { rotated } from './rotation.js';
import { chosenScenarios, runScenarios } from './scenarios/run-scenarios.js';

async function scenarios(options: Options): Promise<void> {
  const chosen = chosenScenarios(options.scenarios);
  const installation = readInstallation(process.env['RUN_FILE']);
  const messages = await Messages.open(installation.natsUrl);
  const modes = (['standalone', 'services'] as const).filter((mode) => options.systems.includes(mode));
  const rounds = options.quick ? 1 : options.rounds;
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  try {
    const outcomes = await runScenarios(chosen, {
      ...options,
      installation,
      messages,
      modes,
      rounds,
      say,
    });
    if (options.json !== null)
      await writeFile(options.json, `${JSON.stringify({ options, scenarios: outcomes }, null, 2)}\n`);
    if (Object.values(outcomes).some(({ faults }) => faults.length > 0)) process.exitCode = 1;
  } finally {
    await messages.close();
  }
}

async function guard(options: Options): Promise<void> {
  const installation = readInstallation(process.env['RUN_FILE']);
  const messages = await Messages.open(installation.natsUrl);
  try {
    const judgement: Judgement = judge(await measureForGuard({ installation, messages, options }));
    for (const line of toLines(judgement)) process.stdout.write(`${line}\n`);
    if (options.json !== null) await writeFile(options.json, `${JSON.stringify(judgement, null, 2)}\n`);
    if (judgement.verdict === 'broken') process.exitCode = 1;
  } finally {
    await messages.close();
  }
}

/** Measures every system once a round, in another order each time. */
async function run(options: Options): Promise<void> {
  if (options.report !== null) await checkDocument(options.report);
  const installation = readInstallation(process.env['RUN_FILE']);
  const messages = await Messages.open(installation.natsUrl);
  try {
    const ceiling = await measureCeiling(installation.natsUrl, options.concurrency);
    const measurements: Figures[] = [];
    for (let round = 1; round <= options.rounds; round += 1) {
      for (const system of rotated(options.systems, round)) {
        const figures = await measure(system, round, { installation, messages, options });
        measurements.push(figures);
        const { perSecond, cpuTotal, oneAtATime } = figures;
        const short = `${perSecond.toFixed(0)}/s, ${cpuTotal.toFixed(3)} CPU s per 1,000, p50 ${oneAtATime.p50.toFixed(2)} ms`;
        process.stdout.write(`round ${round}, ${system}: ${short}\n`);
      }
    }
    const report = summarize(options, ceiling, measurements);
    process.stdout.write(`\n${toText(report)}\n`);
    if (options.report !== null) await writeDocument(options.report, report);
    if (options.json !== null) await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`);
  } finally {
    await messages.close();
  }
}

try {
  if (process.argv.includes('--help')) process.stdout.write(`${usage}\n`);
  else {
    const options = readOptions(process.argv.slice(2));
    // What was measured for minutes must not be lost because it cannot be written.
    if (options.json !== null) await writeFile(options.json, '');
    if (options.guard) await guard(options);
    else await (options.scenarios.length > 0 ? scenarios(options) : run(options));
  }
} catch (error) {
  process.stderr.write(
    `bench: ${error instanceof Error ? error.message : String(error)}\nnpm run bench -- --help lists the options\n`,
  );
  process.exitCode = 1;
}
