import { adviceOn, formatDuration, type ReadTool, type Window } from '@intendant/tools';
import type { Command } from 'commander';
import { checkTools } from '../check-tools.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
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
      const read = await checkTools(context.directory, given, env);
      const { problems } = read;
      const advice = adviceOn(read.tools.map(({ tool }) => tool));
      const tools = read.tools.map((tool) => ({
        ...tool,
        notes: [...tool.notes, ...(advice.get(tool.tool.name) ?? [])],
      }));
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
