import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Environment } from '@intendant/runtime';
import { type ReadTool, readToolFile, readTools, ToolFileError, type ToolFileProblem } from '@intendant/tools';
import { CommandFailed } from './errors.js';

/**
 * Reads a tool file, or a directory of them; with a problem, no tool.
 *
 * @param directory that `given` is relative to.
 * @throws CommandFailed where there is nothing to read.
 */
export async function checkTools(
  directory: string,
  given: string,
  env: Environment,
): Promise<{ tools: readonly ReadTool[]; problems: readonly ToolFileProblem[] }> {
  const location = path.resolve(directory, given);
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
