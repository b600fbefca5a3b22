import {
  type KeyRing,
  type OperatorIdentity,
  parseOperatorKeys,
  parsePreviousSecrets,
  parseServiceKeys,
  type ServiceIdentity,
} from '@intendant/credentials';
import { type Environment, port, refuseUnknown, required, setting, streamReplicas } from '@intendant/runtime';

export interface PolicyConfig {
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly streamReplicas: number | undefined;
  readonly toolsDir: string;
  /** Folder of policy files; null: there are none. */
  readonly policyDir: string | null;
  readonly tokenSecret: string;
  /** Secrets that verify tokens and sign none. */
  readonly previousSecrets: readonly string[];
  readonly services: KeyRing<ServiceIdentity>;
  readonly operators: KeyRing<OperatorIdentity>;
  /** What requests for approval are sealed with. */
  readonly approvalSecret: string;
  /** Secrets that check seals and make none. */
  readonly previousApprovalSecrets: readonly string[];
  readonly host: string;
  readonly port: number;
}

/** @throws ConfigError */
export function readConfig(env: Environment): PolicyConfig {
  refuseUnknown(env);
  return {
    databaseUrl: required(env, 'INTENDANT_DATABASE_URL', 'postgres://intendant_app:secret@127.0.0.1:5432/intendant'),
    natsUrl: required(env, 'INTENDANT_NATS_URL', 'nats://127.0.0.1:4222'),
    streamReplicas: streamReplicas(env),
    toolsDir: required(env, 'INTENDANT_TOOLS_DIR', 'examples/tools'),
    policyDir: setting(env, 'INTENDANT_POLICY_DIR') ?? null,
    tokenSecret: required(env, 'INTENDANT_TOKEN_SECRET', '"$(openssl rand -base64 32)"'),
    previousSecrets: parsePreviousSecrets(setting(env, 'INTENDANT_TOKEN_SECRET_PREVIOUS')),
    services: parseServiceKeys(setting(env, 'INTENDANT_SERVICE_KEYS') ?? ''),
    operators: parseOperatorKeys(setting(env, 'INTENDANT_OPERATOR_KEYS') ?? ''),
    approvalSecret: required(env, 'INTENDANT_APPROVAL_SECRET', '"$(openssl rand -base64 32)"'),
    previousApprovalSecrets: parsePreviousSecrets(
      setting(env, 'INTENDANT_APPROVAL_SECRET_PREVIOUS'),
      'INTENDANT_APPROVAL_SECRET_PREVIOUS',
    ),
    host: setting(env, 'INTENDANT_HTTP_HOST') ?? '127.0.0.1',
    port: port(env, 0),
  };
}
