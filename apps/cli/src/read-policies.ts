import path from 'node:path';
import type { ToolDefinition } from '@intendant/contracts';
import { type PolicySet, readPolicyFiles } from '@intendant/rules';
import { readTools, ToolFileError, type ToolFileProblem } from '@intendant/tools';
import { type Flags, Settings } from './config.js';
import type { Context } from './context.js';
import { WrongUsage } from './errors.js';

export interface PolicyOptions extends Flags {
  /** Folder of tool files. */
  readonly tools?: string;
}

export const toolsOption = [
  '--tools <folder>',
  'folder of tool files (INTENDANT_TOOLS_DIR, or that of the running stack)',
] as const;

/** Policy files with the tools that they are for; with problems, nothing else of it is worth anything. */
export type ReadPolicies =
  | { readonly problems: readonly []; readonly set: PolicySet; readonly tools: readonly ToolDefinition[] }
  | { readonly problems: readonly ToolFileProblem[]; readonly set: null };

/**
 * @param folder of policy files; without it that of the environment or of the running stack.
 * @throws WrongUsage where it is not said which folders are meant.
 */
export async function readPolicies(
  context: Context,
  folder: string | undefined,
  options: PolicyOptions,
): Promise<ReadPolicies> {
  const env = new Settings(context, options).serviceEnvironment;
  const policies = folder ?? env['INTENDANT_POLICY_DIR'];
  const tools = options.tools ?? env['INTENDANT_TOOLS_DIR'];
  if (!policies) throw new WrongUsage('This needs a folder of policy files: give it, or INTENDANT_POLICY_DIR.');
  if (!tools) throw new WrongUsage('This needs the tools that the rules are for: give --tools or INTENDANT_TOOLS_DIR.');
  try {
    const read = await readTools(path.resolve(context.directory, tools), env);
    const definitions = read.map(({ tool }) => tool);
    const names = definitions.map(({ name }) => name);
    const set = await readPolicyFiles(path.resolve(context.directory, policies), names);
    return { problems: [], set, tools: definitions };
  } catch (error) {
    if (error instanceof ToolFileError) return { problems: error.problems, set: null };
    throw error;
  }
}
