import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Environment } from '@intendant/runtime';
import {
  formatDuration,
  type ReadTool,
  readToolFile,
  readTools,
  ToolFileError,
  type ToolFileProblem,
  type Window,
} from '@intendant/tools';
import type { Command } from 'commander';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { CommandFailed } from '../errors.js';
import { problemLine } from '../problem-line.js';
import { type Columns, table } from '../table.js';

const columns: Columns<Window> = {
  WINDOW: (w) => w.name,
  VALUE: (w) => formatDuration(w.ms),
  BASIS: (w) => w.basis,
  HOLDS: (w) => w.requirement,
};

export function addToolsLint(parent: Command, context: Context): void {
  parent
    .command('lint')
    .description('check tool files, without any service, and show their time windows')
    .argument('<path>', 'a tool file, or a directory of *.tool.yaml')
    .option('--json', 'print JSON')
    .action(async (given: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Flags & { json?: boolean }>();
      const env = new Settings(context, options).serviceEnvironment;
      const { tools, problems } = await check(path.resolve(context.directory, given), given, env);
      if (problems.length > 0) context.failed();
      if (options.json) return context.out(JSON.stringify({ tools: tools.map(asJson), problems }));
      for (const problem of problems) context.out(problemLine(problem));
      for (const tool of tools) for (const line of describe(tool)) context.out(line);
      if (problems.length === 0) context.out(`${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}, no problems`);
    });
}

function describe({ tool, windows, notes }: ReadTool): string[] {
  const { effect, guarantee, lookup } = tool.terms;
  const trust = effect === 'read' ? '' : `, guarantee ${guarantee}, lookup ${lookup}`;
  return [
    `${tool.name}  ${effect}${trust}`,
    ...table(windows, columns, 'no windows').map((line) => `  ${line}`),
    ...notes.map((note) => `  note: ${note}`),
    '',
  ];
}

function asJson({ tool, windows, notes }: ReadTool): object {
  const { guarantee, lookup } = tool.terms;
  return {
    ...{ name: tool.name, file: tool.file, guarantee, lookup },
    windows: windows.map(({ name, ms, basis, requirement }) => ({ name, ms, basis, requirement })),
    notes,
  };
}

async function check(
  location: string,
  given: string,
  env: Environment,
): Promise<{ tools: readonly ReadTool[]; problems: readonly ToolFileProblem[] }> {
  const found = await stat(location).catch((error: Error) => {
    throw new CommandFailed(`${given} cannot be read: ${error.message}`);
  });
  try {
    const tools = found.isDirectory() ? await readTools(location, env) : [await readToolFile(location, env)];
    return { tools, problems: [] };
  } catch (error) {
    if (!(error instanceof ToolFileError)) throw error;
    return { tools: [], problems: error.problems };
  }
}
