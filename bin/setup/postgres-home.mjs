import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ensureDirectory, root } from './paths.mjs';
import { canEnter } from './postgres-account.mjs';
import { StepFailure } from './step-failure.mjs';

/**
 * Directory that holds the data directory: inside the clone, or, when a private parent directory keeps the account out
 * of the clone, in the temporary directory under a name that belongs to this clone.
 */
export function postgresHome(stateDir, account) {
  const inside = ensureDirectory(path.join(stateDir, 'postgres'));
  if (canEnter(account, inside)) return inside;
  const outside = ensureDirectory(path.join(outsideDirectory(account), path.basename(stateDir)));
  return ensureDirectory(path.join(outside, 'postgres'));
}

/** This clone's directory under the first temporary directory the account can enter. */
export function outsideDirectory(account) {
  const name = `intendant-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`;
  for (const parent of new Set([os.tmpdir(), '/tmp', '/var/tmp'])) {
    if (!canEnter(account, parent)) continue;
    const directory = path.join(parent, name);
    fs.mkdirSync(directory, { recursive: true });
    refuseForeign(directory);
    return ensureDirectory(directory);
  }
  throw new StepFailure(
    'postgres',
    `the account ${account.name} can enter neither this clone nor a temporary directory`,
    'move the clone below a directory that other accounts may enter, or set INTENDANT_DATABASE_URL',
  );
}

/** The temporary directory is open to everyone: someone else may have taken the name first. */
function refuseForeign(directory) {
  const found = fs.lstatSync(directory);
  if (found.isDirectory() && found.uid === process.getuid()) return;
  throw new StepFailure('postgres', `${directory} belongs to somebody else`, 'remove it, and run the command again');
}
