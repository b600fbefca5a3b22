import { readFileSync } from 'node:fs';
import { closest } from 'fastest-levenshtein';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Something in the environment is missing or wrong; the message says which, why and what would be right. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Every name a service understands. Secrets may also come from a file: `<NAME>_FILE`. */
const known = {
  INTENDANT_DATABASE_URL: { secret: true },
  INTENDANT_NATS_URL: { secret: true },
  INTENDANT_STREAM_REPLICAS: { secret: false },
  INTENDANT_TOOLS_DIR: { secret: false },
  INTENDANT_POLICY_DIR: { secret: false },
  INTENDANT_HTTP_HOST: { secret: false },
  INTENDANT_HTTP_PORT: { secret: false },
  INTENDANT_TOKEN_SECRET: { secret: true },
  INTENDANT_TOKEN_SECRET_PREVIOUS: { secret: true },
  INTENDANT_APPROVAL_SECRET: { secret: true },
  INTENDANT_APPROVAL_SECRET_PREVIOUS: { secret: true },
  INTENDANT_SERVICE_KEYS: { secret: true },
  INTENDANT_OPERATOR_KEYS: { secret: true },
  INTENDANT_EGRESS_HOSTS: { secret: false },
  INTENDANT_EGRESS_PRIVATE: { secret: false },
  INTENDANT_CREDENTIALS: { secret: true },
  INTENDANT_PUBLIC_URL: { secret: false },
  INTENDANT_WEBHOOKS: { secret: true },
  INTENDANT_SLACK: { secret: true },
  INTENDANT_LOG_LEVEL: { secret: false },
  INTENDANT_FAULT: { secret: false },
} as const;
export type Setting = keyof typeof known;

/** Names of the command line; somebody may have exported them in the shell that a service is started from. */
const ofTheCommandLine = ['INTENDANT_URL', 'INTENDANT_SERVICE_KEY', 'INTENDANT_OPERATOR_KEY', 'INTENDANT_RUN_TOKEN'];

/** Refuses any `INTENDANT_…` name that no service understands: a typo would otherwise silently mean a default. */
export function refuseUnknown(env: Environment): void {
  const names = Object.keys(known);
  const withFiles = Object.entries(known).flatMap(([name, { secret }]) => (secret ? [name, `${name}_FILE`] : [name]));
  const legal = new Set([...withFiles, ...ofTheCommandLine]);
  const wrong = Object.keys(env).filter((name) => name.startsWith('INTENDANT_') && !legal.has(name));
  if (wrong.length === 0) return;
  throw new ConfigError(
    wrong.map((name) => `environment variable ${name} is not known; did you mean ${closest(name, names)}?`).join('\n'),
  );
}

/** The value of a setting, from the variable or from the file its `_FILE` variant names; undefined when not set. */
export function setting(env: Environment, name: Setting): string | undefined {
  const value = env[name];
  const file = known[name].secret ? env[`${name}_FILE`] : undefined;
  if (value !== undefined && file !== undefined)
    throw new ConfigError(`${name} and ${name}_FILE are both set; keep one`);
  if (file === undefined) return value === '' ? undefined : value;
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch (error) {
    throw new ConfigError(`${name}_FILE names ${file}, which cannot be read: ${(error as Error).message}`);
  }
}

export function required(env: Environment, name: Setting, example: string): string {
  const value = setting(env, name);
  if (value === undefined) throw new ConfigError(`${name} is not set; for example ${name}=${example}`);
  return value;
}

export function port(env: Environment, fallback: number): number {
  const text = setting(env, 'INTENDANT_HTTP_PORT');
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535) {
    throw new ConfigError(
      `INTENDANT_HTTP_PORT must be a whole number from 0 to 65535 (0: any free port); got "${text}"`,
    );
  }
  return value;
}

/** Copies that a NATS cluster keeps of each stream; undefined when it is not set. */
export function streamReplicas(env: Environment): number | undefined {
  const text = setting(env, 'INTENDANT_STREAM_REPLICAS');
  // JetStream takes up to five; an even number bears no more failures than the odd one below it.
  if (text === undefined || /^[135]$/.test(text)) return text === undefined ? undefined : Number(text);
  throw new ConfigError(`INTENDANT_STREAM_REPLICAS must be 1, 3 or 5; got "${text}"`);
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

export function logLevel(env: Environment): string {
  const level = setting(env, 'INTENDANT_LOG_LEVEL') ?? 'info';
  if (!levels.includes(level))
    throw new ConfigError(`INTENDANT_LOG_LEVEL must be one of ${levels.join(', ')}; got "${level}"`);
  return level;
}

/** Base URL under which people and agents reach the gateway, without a slash at the end; null: not told. */
export function publicUrl(env: Environment): string | null {
  const text = setting(env, 'INTENDANT_PUBLIC_URL');
  if (text === undefined) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const plain = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}${url.pathname}`;
  if (plain) return url.href.replace(/\/+$/, '');
  throw new ConfigError(
    'INTENDANT_PUBLIC_URL must be an http or https URL without user, query and fragment, such as https://intendant.example.com',
  );
}
