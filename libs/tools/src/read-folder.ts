import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ToolFileError } from './tool-file-error.js';

/** What a folder holds: files named `*.tool.yaml`, or `*.policy.yaml`. */
type Kind = 'tool' | 'policy';

/**
 * The files of a kind in a folder, in the order of their names, those with the ending `.yml` included.
 *
 * @throws ToolFileError when there is none, the folder cannot be read, or a folder of policies has other YAML.
 */
export async function filesIn(directory: string, kind: Kind): Promise<string[]> {
  const entries = await readdir(directory).catch((error: unknown) => {
    throw unreadable(directory, error, `must be a directory of *.${kind}.yaml files`);
  });
  // Rules in a file of another name would be in force for nobody.
  const stranger = kind === 'policy' && entries.find((name) => /(?<!\.(tool|policy))\.ya?ml$/.test(name));
  if (stranger)
    throw refused(join(directory, stranger), 'is not read; must be named *.policy.yaml, or be somewhere else');
  const files = entries.filter((name) => new RegExp(`\\.${kind}\\.ya?ml$`).test(name)).toSorted();
  if (files.length === 0) throw refused(directory, `holds no ${kind}; must have at least one *.${kind}.yaml file`);
  return files.map((name) => join(directory, name));
}

/** One ending only, so that a file is never left out without a word. @throws ToolFileError */
export function checkEnding(file: string, kind: Kind): void {
  if (!file.endsWith('.yml')) return;
  throw refused(file, `has the ending .${kind}.yml; must be renamed to ${basename(file, '.yml')}.yaml`);
}

/** @throws ToolFileError */
export async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw unreadable(file, error, 'must be a file that can be read');
  }
}

function unreadable(file: string, cause: unknown, right: string): ToolFileError {
  return refused(file, `cannot be read (${cause instanceof Error ? cause.message : String(cause)}); ${right}`);
}

function refused(file: string, message: string): ToolFileError {
  return new ToolFileError([{ file, line: 0, field: '', message }]);
}
