import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { ToolDefinition } from '@intendant/contracts';
import type { Environment } from '@intendant/runtime';
import { loadTools, parseToolFile, ToolFileError, type ToolFileProblem } from '@intendant/tools';
import type { Command } from 'commander';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { CommandFailed } from '../errors.js';

export function addToolsLint(parent: Command, context: Context): void {
  parent
    .command('lint')
    .description('check tool files, without any service')
    .argument('<path>', 'a tool file, or a directory of *.tool.yaml')
    .option('--json', 'print JSON')
    .action(async (given: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Flags & { json?: boolean }>();
      const env = new Settings(context, options).serviceEnvironment;
      const { tools, problems } = await check(path.resolve(context.directory, given), given, env);
      if (problems.length > 0) context.failed();
      if (options.json) return context.out(JSON.stringify({ tools: tools.map(({ name }) => name), problems }));
      for (const { file, line, field, message } of problems)
        context.out(`${file}:${line}${field && ` ${field}`}: ${message}`);
      if (problems.length === 0) context.out(`${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}, no problems`);
    });
}

async function check(
  location: string,
  given: string,
  env: Environment,
): Promise<{ tools: readonly ToolDefinition[]; problems: readonly ToolFileProblem[] }> {
  const found = await stat(location).catch((error: Error) => {
    throw new CommandFailed(`${given} cannot be read: ${error.message}`);
  });
  try {
    const tools = found.isDirectory()
      ? (await loadTools(location, env)).list()
      : [parseToolFile(given, await readFile(location, 'utf8'), env)];
    return { tools, problems: [] };
  } catch (error) {
    if (!(error instanceof ToolFileError)) throw error;
    return { tools: [], problems: error.problems };
  }
}
