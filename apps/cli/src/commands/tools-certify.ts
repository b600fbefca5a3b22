import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { campaign, certify, exampleOf, NothingToTest, Subject, type SubjectOptions } from '@intendant/certify';
import type { ToolDefinition } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import { ConfigError, type Environment } from '@intendant/runtime';
import { parseDuration, parseToolFile, readPromises, ToolFileError } from '@intendant/tools';
import { type Command, InvalidArgumentError } from 'commander';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { WrongUsage } from '../errors.js';
import { showCertificate } from '../show-certificate.js';
import { wholeNumber } from '../whole-number.js';

interface Options extends Flags {
  readonly args?: JsonObject;
  readonly set: readonly (readonly [name: string, value: string])[];
  readonly hold: number;
  readonly rounds: string;
  readonly realUpstream?: boolean;
  readonly json?: boolean;
}

export function addToolsCertify(parent: Command, context: Context): void {
  parent
    .command('certify')
    .description('find out which guarantee the upstream of a tool really keeps, by faults against its sandbox')
    .argument('<file>', 'a tool file')
    .option('--args <json>', 'arguments of the calls; {{n}} in a text is another number for each effect', objectOf)
    .option('--set <NAME=value...>', 'variables for the tool file, before those of the environment', addVariable, [])
    .option('--hold <duration>', 'how long a key is left alone before it comes back', durationOf, 3_000)
    .option('--rounds <n>', 'how often everything is done', wholeNumber(1, 100), '1')
    .option('--real-upstream', 'against the real upstream instead of the sandbox: its effects are REAL')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExit status: 0 the declaration holds, 1 it does not or is not shown, 2 nothing could be tested.',
    )
    .action(async (file: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const env = { ...new Settings(context, options).serviceEnvironment, ...Object.fromEntries(options.set) };
      const prepared = await prepare(path.resolve(context.directory, file), file, env, options);
      const subject = await start({ ...prepared, worker: context.callWorker });
      try {
        const { tool, promises } = subject.options;
        const found = await campaign(subject, Number(options.rounds));
        const certificate = certify(promises, tool.terms.lookup === 'authoritative', found);
        if (!certificate.holds) context.failed();
        showCertificate(context, tool, options.realUpstream ? 'real upstream' : 'sandbox', certificate, options.json);
      } finally {
        await subject.close();
      }
    });
}

/** @throws WrongUsage when there is nothing to test */
async function prepare(
  location: string,
  file: string,
  env: Environment,
  options: Options,
): Promise<Omit<SubjectOptions, 'worker'>> {
  const text = await readFile(location, 'utf8').catch((error: Error) => {
    throw new WrongUsage(`${file} cannot be read: ${error.message}`);
  });
  const tool = read(file, text, env);
  const sandbox = !options.realUpstream;
  if (tool.effect === 'read') throw new WrongUsage(`${tool.name} only reads: there is no effect that could double.`);
  if (sandbox && tool.sandbox === null) {
    throw new WrongUsage(
      `${tool.name} has no sandbox. Declare upstream.sandbox in ${file}, or say --real-upstream: its effects are real.`,
    );
  }
  const args = options.args ?? exampleOf(tool);
  if (args === null) {
    throw new WrongUsage(
      `There are no arguments to call ${tool.name} with: give --args, or input.examples in ${file}.`,
    );
  }
  return {
    tool,
    promises: readPromises(file, text, env),
    sandbox,
    args,
    holdMs: options.hold,
    env,
  };
}

function read(file: string, text: string, env: Environment): ToolDefinition {
  try {
    return parseToolFile(file, text, env);
  } catch (error) {
    if (!(error instanceof ToolFileError)) throw error;
    const list = error.problems.map(({ line, field, message }) => `${file}:${line}${field && ` ${field}`}: ${message}`);
    throw new WrongUsage(`The tool file has mistakes:\n${list.join('\n')}`);
  }
}

async function start(options: SubjectOptions): Promise<Subject> {
  try {
    return await Subject.start(options);
  } catch (error) {
    if (error instanceof NothingToTest || error instanceof ConfigError) throw new WrongUsage(error.message);
    throw error;
  }
}

function objectOf(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  } catch {
    // Said below.
  }
  throw new InvalidArgumentError('It has to be a JSON object.');
}

function addVariable(text: string, before: readonly (readonly [string, string])[]): (readonly [string, string])[] {
  const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('It has to be NAME=value.');
  return [...before, [name, value]];
}

function durationOf(text: string): number {
  const ms = parseDuration(text);
  if (ms === null || ms === 0) throw new InvalidArgumentError('It has to be a duration such as 10s or PT5M.');
  return ms;
}
