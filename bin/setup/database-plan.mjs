import { asAccount } from './database.mjs';
import { StepFailure } from './step-failure.mjs';

const appRole = 'intendant_app';

/** Roles belong to the whole server: on one that others use, too, the services' role is named after the database. */
function roleFor(url) {
  return `${appRole}_${decodeURIComponent(url.pathname.slice(1))}`.slice(0, 63);
}

/**
 * Which account does what: migrations run as the owner, services as a role that can neither change nor delete the
 * event log. Returns `{ ownerUrl, appUrl, appRole, appPassword }`; `appPassword` undefined means that the user keeps
 * that role.
 */
export function planDatabase({ settings, credentials, privateUrl }) {
  const owner = settings.INTENDANT_MIGRATION_DATABASE_URL;
  const given = settings.INTENDANT_DATABASE_URL;
  if (given && owner) {
    const { username, password } = parsed('INTENDANT_DATABASE_URL', given);
    const role = decodeURIComponent(username);
    // A role that somebody else manages keeps its password.
    const own = role.startsWith(appRole) ? decodeURIComponent(password) : undefined;
    return { ownerUrl: owner, appUrl: given, appRole: role, appPassword: settings.INTENDANT_APP_PASSWORD ?? own };
  }
  const ownerUrl = given ?? privateUrl;
  const role = settings.INTENDANT_APP_ROLE ?? (given ? roleFor(parsed('INTENDANT_DATABASE_URL', given)) : appRole);
  const appPassword = settings.INTENDANT_APP_PASSWORD ?? credentials.appPassword;
  return { ownerUrl, appUrl: asAccount(ownerUrl, role, appPassword), appRole: role, appPassword };
}

/** Stops early on settings that contradict each other. */
export function checkDatabaseSettings(settings) {
  if (!settings.INTENDANT_MIGRATION_DATABASE_URL || settings.INTENDANT_DATABASE_URL) return;
  throw new StepFailure(
    'settings',
    'INTENDANT_MIGRATION_DATABASE_URL is set without INTENDANT_DATABASE_URL',
    'set both, or only INTENDANT_DATABASE_URL (then its account runs the migrations too), or none',
  );
}

function parsed(name, url) {
  try {
    return new URL(url);
  } catch {
    throw new StepFailure('settings', `${name} is not a URL`, 'write postgres://account:password@host:port/database');
  }
}
