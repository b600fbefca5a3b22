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
import { readSlackPosting, type SlackPosting } from '@intendant/slack';
import { Egress, readEgressRules } from '@intendant/upstream';
import { readWebhooks, type WebhookSetting } from './webhook-settings.js';

export interface NotifierConfig {
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly streamReplicas: number | undefined;
  readonly host: string;
  readonly port: number;
  readonly egress: Egress;
  /** Where people reach the gateway, without a final slash; null: notices carry no link. */
  readonly publicUrl: string | null;
  readonly webhooks: readonly WebhookSetting[];
  readonly slack: SlackPosting | null;
}

/** @throws ConfigError */
export function readConfig(env: Environment): NotifierConfig {
  refuseUnknown(env);
  const egress = new Egress(readEgressRules(env));
  return {
    databaseUrl: required(env, 'INTENDANT_DATABASE_URL', 'postgres://intendant_app:secret@127.0.0.1:5432/intendant'),
    natsUrl: required(env, 'INTENDANT_NATS_URL', 'nats://127.0.0.1:4222'),
    streamReplicas: streamReplicas(env),
    host: setting(env, 'INTENDANT_HTTP_HOST') ?? '127.0.0.1',
    port: port(env, 0),
    egress,
    publicUrl: publicUrl(env),
    webhooks: readWebhooks(setting(env, 'INTENDANT_WEBHOOKS'), egress),
    slack: readSlack(env, egress),
  };
}

function readSlack(env: Environment, egress: Egress): SlackPosting | null {
  const slack = readSlackPosting(setting(env, 'INTENDANT_SLACK'));
  if (slack === null) return null;
  const { hostname, port: given, protocol } = slack.apiUrl;
  const refusal = egress.refusal(hostname, Number(given) || (protocol === 'https:' ? 443 : 80));
  if (refusal !== null) throw new ConfigError(`INTENDANT_SLACK.apiUrl: ${refusal}`);
  return slack;
}
