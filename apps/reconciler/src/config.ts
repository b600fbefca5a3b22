import { type KeyRing, type OperatorIdentity, parseOperatorKeys } from '@intendant/credentials';
import {
  type Environment,
  type Logger,
  port,
  refuseUnknown,
  required,
  setting,
  streamReplicas,
} from '@intendant/runtime';
import { readUpstreamConfig, type UpstreamConfig } from '@intendant/upstream';

/** All that a single pass needs. */
export interface PassConfig {
  readonly databaseUrl: string;
  readonly toolsDir: string;
  readonly upstream: UpstreamConfig;
}

export interface ReconcilerConfig extends PassConfig {
  readonly natsUrl: string;
  readonly streamReplicas: number | undefined;
  readonly operators: KeyRing<OperatorIdentity>;
  readonly host: string;
  readonly port: number;
}

/** @throws ConfigError */
export function readPassConfig(env: Environment, logger?: Logger): PassConfig {
  refuseUnknown(env);
  return {
    databaseUrl: required(env, 'INTENDANT_DATABASE_URL', 'postgres://intendant_app:secret@127.0.0.1:5432/intendant'),
    toolsDir: required(env, 'INTENDANT_TOOLS_DIR', 'examples/tools'),
    upstream: readUpstreamConfig(env, logger),
  };
}

/** @throws ConfigError */
export function readConfig(env: Environment, logger?: Logger): ReconcilerConfig {
  return {
    ...readPassConfig(env, logger),
    natsUrl: required(env, 'INTENDANT_NATS_URL', 'nats://127.0.0.1:4222'),
    streamReplicas: streamReplicas(env),
    operators: parseOperatorKeys(setting(env, 'INTENDANT_OPERATOR_KEYS') ?? ''),
    host: setting(env, 'INTENDANT_HTTP_HOST') ?? '127.0.0.1',
    port: port(env, 0),
  };
}
