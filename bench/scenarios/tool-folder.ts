import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../children.js';
import { toolName } from '../load-job.js';

/** What every run of the scenarios may call; what it may not is `bench:forbidden`. */
export const permission = 'bench:write';

/** A folder with the tool of the benchmark and copies of it under other names. */
export async function toolFolder(
  copies: readonly {
    readonly name: string;
    readonly permission?: string;
    /** Makes the copy differ in more. */
    readonly edit?: (text: string) => string;
  }[],
): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const original = await readFile(`${root}bench/tools/${toolName}.tool.yaml`, 'utf8');
  const path = await mkdtemp(join(tmpdir(), 'intendant-bench-tools-'));
  for (const copy of [{ name: toolName }, ...copies] satisfies typeof copies) {
    const text = original
      .replace(/^name: .*$/m, `name: ${copy.name}`)
      .replace(/^permission: .*$/m, `permission: ${copy.permission ?? permission}`);
    await writeFile(join(path, `${copy.name}.tool.yaml`), copy.edit?.(text) ?? text);
  }
  return { path, remove: () => rm(path, { recursive: true }) };
}
