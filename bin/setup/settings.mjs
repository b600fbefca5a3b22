import fs from 'node:fs';
import { StepFailure } from './step-failure.mjs';

/** Names that only the launcher knows; the services refuse INTENDANT_* names they do not know. */
const launcherOnly = [
  'INTENDANT_NATS_BIN',
  'INTENDANT_OLD_NATS_BIN',
  'INTENDANT_PG_BIN',
  'INTENDANT_MIGRATION_DATABASE_URL',
  'INTENDANT_APP_PASSWORD',
  'INTENDANT_APP_ROLE',
];

/** Files that services read themselves, again and again: their content may change while they run. */
const readByServices = ['INTENDANT_CREDENTIALS_FILE'];

/**
 * The environment as the launcher reads it: `NAME_FILE` of an INTENDANT_* name is replaced by `NAME` with the content
 * of that file, so that every later step looks at one place.
 */
export function readSettings(env = process.env) {
  const settings = { ...env };
  for (const [name, file] of Object.entries(env)) {
    if (!name.startsWith('INTENDANT_') || !name.endsWith('_FILE') || readByServices.includes(name)) continue;
    try {
      settings[name.slice(0, -'_FILE'.length)] = fs.readFileSync(file, 'utf8').trim();
    } catch (error) {
      throw new StepFailure(
        'settings',
        `${name} names a file that cannot be read: ${error.message}`,
        `correct ${name}, or unset it`,
      );
    }
    delete settings[name];
  }
  return settings;
}

/** The settings a service may see. */
export function forServices(settings) {
  return without(settings, (name) => launcherOnly.includes(name) || name.startsWith('INTENDANT_TEST_'));
}

/** The settings without any INTENDANT_* name: a test run must not depend on the shell it is started from. */
export function withoutOurs(settings) {
  return without(settings, (name) => name.startsWith('INTENDANT_'));
}

function without(settings, drop) {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !drop(name)));
}
