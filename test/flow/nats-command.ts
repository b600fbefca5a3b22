import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Makes `folder` hold the command `nats`, so that it can be put on a PATH: our stand-in for the NATS CLI. */
export function installNats(folder: string): void {
  const command = path.join(folder, 'nats');
  const program = path.join(import.meta.dirname, 'nats-cli.mjs');
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(command, 0o755);
}
