import fs from 'node:fs';
import path from 'node:path';
import { ensureDirectory } from './paths.mjs';

/**
 * Opens the log of one process; the log of the run before is kept as `<name>.log.1`.
 * Children write to the descriptor themselves, so they survive the death of the launcher without a broken pipe.
 */
export function openLog(stateDir, name) {
  const file = path.join(ensureDirectory(path.join(stateDir, 'logs')), `${name}.log`);
  if (fs.existsSync(file)) fs.renameSync(file, `${file}.1`);
  return { file, fd: fs.openSync(file, 'a', 0o600) };
}

/** The last lines of a log, indented for a message; empty when there is none. */
export function lastLines(file, count = 12) {
  try {
    const lines = fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).slice(-count);
    return lines.map((line) => `    ${line.slice(0, 400)}`).join('\n');
  } catch {
    return '';
  }
}
