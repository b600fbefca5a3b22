import type { JsonObject } from '@intendant/intent';
import { canonical, digest } from './key.js';
import { filesIn, textOf } from './read-folder.js';
import { ToolSource } from './tool-source.js';

/** Hex digits of a version. */
const versionLength = 16;

/** The version of policy files by their contents: the same however they are laid out and spread over names of files. */
export function versionOfPolicies(contents: readonly JsonObject[]): string {
  return digest(contents.map(canonical).toSorted()).slice(0, versionLength);
}

/**
 * The version of the policy files in a folder, for whoever has to know by which rules an approval was asked for and does not
 * judge by them itself; null or empty: that of no files.
 *
 * @throws ToolFileError where a file cannot be read or is no YAML; whether the rules in it are right is not looked at
 */
export async function readPolicyVersion(folder: string | null): Promise<string> {
  if (folder === null || folder === '') return versionOfPolicies([]);
  const files = await filesIn(folder, 'policy');
  const sources = await Promise.all(files.map(async (file) => new ToolSource(file, await textOf(file), {})));
  return versionOfPolicies(sources.map(({ data }) => data));
}
