import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of this clone. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Everything the launcher keeps: git-ignored, one per clone, so two clones never meet. */
export const home = path.join(root, '.intendant');

/**
 * A directory that other accounts may pass through but not list: PostgreSQL runs under another account when the
 * launcher is root. Files with secrets in it are written with mode 0600.
 */
export function ensureDirectory(directory) {
  fs.mkdirSync(directory, { recursive: true });
  fs.chmodSync(directory, 0o711);
  return directory;
}

/** Writes a private file (0600) so that readers see the old or the new content, never half of it. */
export function writePrivateFile(file, content) {
  const partial = `${file}.${process.pid}.partial`;
  fs.rmSync(partial, { force: true });
  fs.writeFileSync(partial, content, { mode: 0o600 });
  fs.renameSync(partial, file);
}

/** The parsed content of a JSON file, or undefined when it is missing or damaged. */
export function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
