import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import { readJson, writePrivateFile } from './paths.mjs';

const tenant = 'demo';
const roles = 'viewer+approver+operator+admin';

/**
 * The secrets of one state directory, made once and kept in `credentials.json` (0600):
 * `{ tokenSecret, approvalSecret, serviceKey, operatorKey, appPassword, postgresPassword }`, each 32 random bytes in base64url.
 */
export function ensureCredentials(stateDir) {
  const file = path.join(stateDir, 'credentials.json');
  const kept = readJson(file) ?? {};
  const all = {
    tokenSecret: fresh(),
    approvalSecret: fresh(),
    serviceKey: fresh(),
    operatorKey: fresh(),
    appPassword: fresh(),
    postgresPassword: fresh(),
    ...kept,
  };
  if (Object.keys(all).length > Object.keys(kept).length) writePrivateFile(file, `${JSON.stringify(all, null, 2)}\n`);
  return { ...all, tenant };
}

/** The same secrets as the services read them; keys are handed over as hashes and added to those the user has set. */
export function credentialEnvironment(credentials, settings) {
  return {
    INTENDANT_TOKEN_SECRET: settings.INTENDANT_TOKEN_SECRET ?? credentials.tokenSecret,
    INTENDANT_APPROVAL_SECRET: settings.INTENDANT_APPROVAL_SECRET ?? credentials.approvalSecret,
    INTENDANT_SERVICE_KEYS: joined(settings.INTENDANT_SERVICE_KEYS, `demo@${tenant}=${hash(credentials.serviceKey)}`),
    INTENDANT_OPERATOR_KEYS: joined(
      settings.INTENDANT_OPERATOR_KEYS,
      `operator@${tenant}:${roles}=${hash(credentials.operatorKey)}`,
    ),
  };
}

function joined(...lists) {
  return lists.filter(Boolean).join(',');
}

function fresh() {
  return randomBytes(32).toString('base64url');
}

function hash(key) {
  return createHash('sha256').update(key).digest('hex');
}
