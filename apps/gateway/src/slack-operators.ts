import type { KeyRing, OperatorIdentity } from '@intendant/credentials';
import { ConfigError } from '@intendant/runtime';
import { readSlackButtons } from '@intendant/slack';

/** How the gateway knows what comes from Slack, and from whom. */
export interface SlackClicks {
  readonly signingSecret: string;
  /** By Slack user. Whoever is not in here may do nothing. */
  readonly operators: ReadonlyMap<string, OperatorIdentity>;
}

/** Null when `INTENDANT_SLACK` is not set. @throws ConfigError for a name that is not that of exactly one operator */
export function readSlackClicks(text: string | undefined, ring: KeyRing<OperatorIdentity>): SlackClicks | null {
  const buttons = readSlackButtons(text);
  if (buttons === null) return null;
  const operators = new Map([...buttons.users].map(([user, name]) => [user, operatorNamed(name, user, ring)]));
  return { signingSecret: buttons.signingSecret, operators };
}

function operatorNamed(name: string, user: string, ring: KeyRing<OperatorIdentity>): OperatorIdentity {
  const named = ring.identities.filter((each) => each.name === name);
  const [first] = named;
  // Somebody may have two keys, while one is changed; two people with one name cannot be told apart.
  if (first && named.every((each) => JSON.stringify(each) === JSON.stringify(first))) return first;
  const known = [...new Set(ring.identities.map((each) => each.name))].join(', ') || 'none';
  const why = first ? 'is there several times, with different tenants or roles' : `is not one of them (${known})`;
  throw new ConfigError(
    `INTENDANT_SLACK.users.${user}: must be the name of one operator of INTENDANT_OPERATOR_KEYS; ${name} ${why}`,
  );
}
