import { type Environment, port, refuseUnknown, required, setting, streamReplicas } from '@intendant/runtime';

export interface RelayConfig {
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly streamReplicas: number | undefined;
  readonly host: string;
  readonly port: number;
}

/** @throws ConfigError */
export function readConfig(env: Environment): RelayConfig {
  refuseUnknown(env);
  return {
    databaseUrl: required(env, 'INTENDANT_DATABASE_URL', 'postgres://intendant_app:secret@127.0.0.1:5432/intendant'),
    natsUrl: required(env, 'INTENDANT_NATS_URL', 'nats://127.0.0.1:4222'),
    streamReplicas: streamReplicas(env),
    host: setting(env, 'INTENDANT_HTTP_HOST') ?? '127.0.0.1',
    port: port(env, 0),
  };
}
