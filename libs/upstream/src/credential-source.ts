import { statSync } from 'node:fs';
import { type Environment, type Logger, monotonic, setting } from '@intendant/runtime';
import type { CredentialSource } from './credential-provider.js';
import { type CredentialRules, parseCredentials } from './credential-rules.js';

/** How often the file is looked at, in ms; a look is one system call. */
const restMs = 2_000;

/**
 * The credentials of `INTENDANT_CREDENTIALS`, or of the file that `INTENDANT_CREDENTIALS_FILE` names. A file that
 * changes is read again, so that secrets can be changed without a restart; one that cannot be read then is told in the
 * log and changes nothing.
 *
 * @throws ConfigError
 */
export function credentialSource(
  env: Environment,
  logger: Logger | undefined,
  now: () => number = monotonic,
): CredentialSource {
  const read = (): CredentialRules => parseCredentials(setting(env, 'INTENDANT_CREDENTIALS') ?? '{}', env);
  const file = env['INTENDANT_CREDENTIALS_FILE'];
  // Looked at before it is read: a change in between is found the next time.
  let version = file === undefined ? '' : versionOf(file);
  let rules = read();
  if (file === undefined) return () => rules;
  let next = now() + restMs;
  return () => {
    if (now() < next) return rules;
    next = now() + restMs;
    const found = versionOf(file);
    if (found === version) return rules;
    version = found;
    try {
      rules = read();
      logger?.info('credentials read again');
    } catch (error) {
      logger?.error(
        { reason: (error as Error).message },
        'the credentials have changed and cannot be read; the old ones stay',
      );
    }
    return rules;
  };
}

function versionOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.mtimeMs} ${found.size}`;
}
