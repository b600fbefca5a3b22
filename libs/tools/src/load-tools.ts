import type { ToolDefinition } from '@intendant/contracts';
import type { Environment } from './environment.js';
import { checkSources } from './identifiers.js';
import { type ReadTool, readTool } from './parse-tool-file.js';
import { checkEnding, filesIn, textOf } from './read-folder.js';
import { createRegistry, type ToolRegistry } from './registry.js';
import { ToolFileError, type ToolFileProblem } from './tool-file-error.js';
import { ToolSource } from './tool-source.js';

/** What in a tool does not fit this process, as fields of its file and what is wrong with them. */
export type CheckFit = (tool: ToolDefinition) => readonly Unfit[] | Promise<readonly Unfit[]>;

interface Unfit {
  readonly path: readonly string[];
  readonly message: string;
}

/**
 * Loads every `*.tool.yaml` of a directory, in the order of their names; there must be one at least, and no
 * `*.tool.yml`, which would be left out without a word.
 *
 * @throws ToolFileError with every problem of every file.
 */
export async function loadTools(directory: string, env: Environment, checkFit?: CheckFit): Promise<ToolRegistry> {
  return createRegistry((await readTools(directory, env, checkFit)).map(({ tool }) => tool));
}

/** The same, with what there is to say about each file. @throws ToolFileError */
export async function readTools(
  directory: string,
  env: Environment,
  checkFit: CheckFit = () => [],
): Promise<ReadTool[]> {
  const problems: ToolFileProblem[] = [];
  const tools: ReadTool[] = [];
  const sources: ToolSource[] = [];
  const names = new Map<string, string>();
  for (const file of await filesIn(directory, 'tool')) {
    try {
      checkEnding(file, 'tool');
      const source = new ToolSource(file, await textOf(file), env);
      claimName(source, names);
      const read = readTool(source);
      for (const { path, message } of await checkFit(read.tool)) source.report(path, message);
      if (source.problems.length > 0) throw new ToolFileError(source.problems);
      tools.push(read);
      sources.push(source);
    } catch (error) {
      if (!(error instanceof ToolFileError)) throw error;
      problems.push(...error.problems);
    }
  }
  const byName = new Map(tools.map(({ tool }) => [tool.name, tool]));
  // A file with a mistake may be the one that is named.
  if (problems.length === 0) for (const source of sources) checkSources(source, byName);
  problems.push(...sources.flatMap((source) => source.problems));
  if (problems.length > 0) throw new ToolFileError(problems);
  return tools;
}

function claimName(source: ToolSource, names: Map<string, string>): void {
  const name = source.text('name');
  if (name === null) return;
  const other = names.get(name);
  if (other === undefined) names.set(name, source.file);
  else source.report(['name'], `${name} is declared in ${other} too; must be unique, so rename or remove one of them`);
}

/** One file, wherever it is and whatever its name. @throws ToolFileError */
export async function readToolFile(file: string, env: Environment): Promise<ReadTool> {
  return readTool(new ToolSource(file, await textOf(file), env));
}
