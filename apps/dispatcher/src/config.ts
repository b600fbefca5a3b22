import { parsePreviousSecrets } from '@intendant/credentials';
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

export interface DispatcherConfig {
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly streamReplicas: number | undefined;
  readonly toolsDir: string;
  /** Folder of policy files, of which it has to know the version; null: there are none. */
  readonly policyDir: string | null;
  readonly upstream: UpstreamConfig;
  /** What requests for approval are sealed with. */
  readonly approvalSecret: string;
  /** Secrets that check seals and make none. */
  readonly previousApprovalSecrets: readonly string[];
  readonly host: string;
  readonly port: number;
}

/** @throws ConfigError */
export function readConfig(env: Environment, logger?: Logger): DispatcherConfig {
  refuseUnknown(env);
  return {
    databaseUrl: required(env, 'INTENDANT_DATABASE_URL', 'postgres://intendant_app:secret@127.0.0.1:5432/intendant'),
    natsUrl: required(env, 'INTENDANT_NATS_URL', 'nats://127.0.0.1:4222'),
    streamReplicas: streamReplicas(env),
    toolsDir: required(env, 'INTENDANT_TOOLS_DIR', 'examples/tools'),
    policyDir: setting(env, 'INTENDANT_POLICY_DIR') ?? null,
    upstream: readUpstreamConfig(env, logger),
    approvalSecret: required(env, 'INTENDANT_APPROVAL_SECRET', '"$(openssl rand -base64 32)"'),
    previousApprovalSecrets: parsePreviousSecrets(
      setting(env, 'INTENDANT_APPROVAL_SECRET_PREVIOUS'),
      'INTENDANT_APPROVAL_SECRET_PREVIOUS',
    ),
    host: setting(env, 'INTENDANT_HTTP_HOST') ?? '127.0.0.1',
    port: port(env, 0),
  };
}
