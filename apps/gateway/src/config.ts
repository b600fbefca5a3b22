import { isIP } from 'node:net';
import {
  type KeyRing,
  type OperatorIdentity,
  parseOperatorKeys,
  parsePreviousSecrets,
  parseServiceKeys,
  type ServiceIdentity,
} from '@intendant/credentials';
import {
  ConfigError,
  type Environment,
  port,
  publicUrl,
  refuseUnknown,
  required,
  setting,
  streamReplicas,
} from '@intendant/runtime';
import { readSlackClicks, type SlackClicks } from './slack-operators.js';

export interface GatewayConfig {
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly streamReplicas: number | undefined;
  readonly tokenSecret: string;
  /** Secrets that verify tokens and sign none. */
  readonly previousSecrets: readonly string[];
  readonly services: KeyRing<ServiceIdentity>;
  readonly operators: KeyRing<OperatorIdentity>;
  /** Null: nobody clicks in Slack. */
  readonly slack: SlackClicks | null;
  /** Base URL under which callers reach it; null: its address. */
  readonly publicUrl: string | null;
  readonly host: string;
  readonly port: number;
}

const defaultPort = 8080;

/** @throws ConfigError */
export function readConfig(env: Environment): GatewayConfig {
  refuseUnknown(env);
  const host = setting(env, 'INTENDANT_HTTP_HOST') ?? '127.0.0.1';
  if (!isLoopback(host)) refuseOpenDoor(env, host);
  const operators = parseOperatorKeys(setting(env, 'INTENDANT_OPERATOR_KEYS') ?? '');
  return {
    databaseUrl: required(env, 'INTENDANT_DATABASE_URL', 'postgres://intendant_app:secret@127.0.0.1:5432/intendant'),
    natsUrl: required(env, 'INTENDANT_NATS_URL', 'nats://127.0.0.1:4222'),
    streamReplicas: streamReplicas(env),
    tokenSecret: secret(env),
    previousSecrets: parsePreviousSecrets(setting(env, 'INTENDANT_TOKEN_SECRET_PREVIOUS')),
    services: parseServiceKeys(setting(env, 'INTENDANT_SERVICE_KEYS') ?? ''),
    operators,
    slack: readSlackClicks(setting(env, 'INTENDANT_SLACK'), operators),
    publicUrl: publicUrl(env),
    host,
    port: port(env, defaultPort),
  };
}

/** A key for HMAC-SHA-256 shorter than its output weakens it (RFC 7518, section 3.2). */
function secret(env: Environment): string {
  const value = required(env, 'INTENDANT_TOKEN_SECRET', '"$(openssl rand -base64 32)"');
  if (Buffer.byteLength(value) >= 32) return value;
  throw new ConfigError(
    'INTENDANT_TOKEN_SECRET must be at least 32 bytes long; make one with: openssl rand -base64 32',
  );
}

/** Whoever can reach the port is not known to be a friend any more, so every kind of caller needs a credential. */
function refuseOpenDoor(env: Environment, host: string): void {
  const needed = ['INTENDANT_TOKEN_SECRET', 'INTENDANT_SERVICE_KEYS', 'INTENDANT_OPERATOR_KEYS'] as const;
  const missing = needed.filter((name) => setting(env, name) === undefined);
  if (missing.length === 0) return;
  throw new ConfigError(
    `INTENDANT_HTTP_HOST=${host} can be reached from other machines, but ${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} not set. ` +
      'Set them, or bind to 127.0.0.1',
  );
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
