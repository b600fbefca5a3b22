import { createHash, createHmac, randomUUID } from 'node:crypto';
import { RunTokens } from '@intendant/credentials';
import { eventually } from './eventually.js';
import { HttpClient } from './http-client.js';
import { operatorKey, Stack, serviceKey, tokenSecret } from './stack.js';

/** What a route or a subject asks for, as the API document calls it. */
export type Kind = 'runToken' | 'serviceKey' | 'operatorKey' | 'slackSignature';

/** Somebody who has nothing to look for where the victim is. */
export interface Caller {
  readonly who: string;
  readonly credential: string | null;
  /** Null: it is a good credential of nothing. */
  readonly kind: Kind | null;
  /** Nothing is its own: it says a tenant and a run that do not belong together. */
  readonly homeless?: boolean;
}

/** A run with everything a run can have, and whoever may do something with it. */
export interface Victim {
  readonly runId: string;
  /** In what the victim wrote and in nothing else. */
  readonly mark: string;
  readonly settled: string;
  readonly waiting: string;
  readonly dead: string;
  readonly replayable: string;
  readonly message: string;
  readonly pause: string;
  /** People are asked about this one. */
  readonly asked: string;
  readonly grant: string;
  readonly credentials: Readonly<Record<Exclude<Kind, 'slackSignature'>, string>>;
}

const slackSecret = 'signing-secret-of-the-flow-tests';
const strangers = { service: 'service-key-of-umbrella', operator: 'operator-key-of-umbrella' };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** An installation with the tenants acme and umbrella. */
export function startShared(): Promise<Stack> {
  return Stack.start({
    env: {
      INTENDANT_SERVICE_KEYS: `flow@acme=${sha256(serviceKey)},flow@umbrella=${sha256(strangers.service)}`,
      INTENDANT_OPERATOR_KEYS: [
        `olga@acme:viewer+approver+operator=${sha256(operatorKey)}`,
        `otto@umbrella:viewer+approver+operator+admin=${sha256(strangers.operator)}`,
      ].join(','),
      INTENDANT_SLACK: JSON.stringify({
        botToken: 'xoxb-of-the-flow-tests',
        channels: {},
        signingSecret: slackSecret,
        users: { U0OLGA: 'olga' },
      }),
    },
  });
}

export async function openVictim(stack: Stack, http: HttpClient): Promise<Victim> {
  const mark = `mark-${randomUUID()}`;
  const { runId, token } = await http.openRun({ user: mark });
  const submit = async (tool: string, stepId: string, wait: number) => {
    const body = { tool, args: { ref: `${mark} ${stepId}` }, stepId };
    const answer = await http.http('POST', '/v1/intents', token, { body, headers: { prefer: `wait=${wait}` } });
    return answer.body as { intentId: string; status: string };
  };
  const settled = (await submit('effects.keyed', 'settled', 20)).intentId;
  const lost = async (stepId: string) => {
    stack.upstream.behave({ match: { bodyContains: `${mark} ${stepId}` }, behaviour: { then: 'reset' } });
    const { intentId, status } = await submit('effects.blind', stepId, 20);
    if (status !== 'dead_lettered') throw new Error(`${stepId} is ${status}`);
    return intentId;
  };
  const [dead, replayable] = [await lost('dead'), await lost('replayable')];
  // Nobody can dispatch this one: it stands as it is until it is cancelled.
  const paused = { tool: 'effects.keyonly', reason: mark };
  const pause = (await http.http('PUT', '/v1/pauses', operatorKey, { body: paused })).body.pause.id;
  const granted = { tool: 'effects.keyed', maxUses: 1, ttl: '1h', reason: mark };
  const grant = (await http.http('POST', '/v1/grants', operatorKey, { body: granted })).body.id;
  const agent = await stack.agent();
  await agent.publish(
    JSON.stringify({ tool: 'effects.keyonly', args: { ref: mark }, stepId: 'waiting' }),
    'acme',
    token,
  );
  await agent.publish(`${mark} is no JSON`, 'acme', token);
  const waiting = await eventually('it waits', async () => {
    const found = await stack.store.intents.list({ runId, tool: 'effects.keyonly', limit: 1 });
    return found[0]?.intentId;
  });
  const message = await eventually('the message is dead', async () => {
    const found = await stack.store.deadMessages.list({ tenant: 'acme', limit: 10 });
    return found.find(({ session }) => session?.runId === runId)?.id;
  });
  const asked = (await submit('effects.approved', 'asked', 0)).intentId;
  const credentials = { runToken: token, serviceKey, operatorKey };
  return { runId, mark, settled, waiting, dead, replayable, message, pause, grant, asked, credentials };
}

/** A click of the victim's operator on a button about an intent, as Slack sends it; or as somebody else would. */
export function slackClick(id: string, secret = slackSecret): { body: string; headers: Record<string, string> } {
  const payload = JSON.stringify({
    type: 'block_actions',
    user: { id: 'U0OLGA' },
    response_url: 'https://hooks.slack.com/actions/T1/2/x',
    actions: [{ type: 'button', action_id: 'refuse', value: JSON.stringify({ id, digest: 'd1' }) }],
  });
  const body = new URLSearchParams({ payload }).toString();
  const at = String(Math.floor(Date.now() / 1_000));
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': at,
    'x-slack-signature': `v0=${createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex')}`,
  };
  return { body, headers };
}

/** Everybody else, of the same tenant and of another, and whoever pretends. */
export async function callersAround(victim: Victim, http: HttpClient): Promise<Caller[]> {
  const { runId } = victim;
  const session = {
    tenant: 'acme',
    runId,
    user: 'eve',
    profile: 'interactive',
    permissions: ['*'],
    phase: null,
  } as const;
  const issue = (secret: string, over: object) =>
    new RunTokens(secret).issue({ ...session, expiresAt: Date.now() + 3_600_000, ...over });
  const [head, body = '', signature] = victim.credentials.runToken.split('.');
  const renamed = Buffer.from(body, 'base64url').toString().replace('acme', 'umbrella');
  const changed = [head, Buffer.from(renamed).toString('base64url'), signature].join('.');
  const sibling = await http.openRun();
  const stranger = await http.http('POST', '/v1/runs', strangers.service, {
    body: { user: 'eve', permissions: ['*'], profile: 'interactive', budgets: { calls: 100, wallClock: '1h' } },
  });
  const forged = await issue('another-secret-0123456789-0123456789', {});
  const expired = await issue(tokenSecret, { expiresAt: Date.now() - 2_000 });
  // Whoever made this one has the secret; the run is another tenant's all the same.
  const crossed = await issue(tokenSecret, { tenant: 'umbrella' });
  return [
    { who: 'nobody', credential: null, kind: null },
    { who: 'an unknown key', credential: 'not-a-key', kind: null },
    { who: 'a forged token', credential: forged, kind: null },
    { who: 'an expired token', credential: expired, kind: null },
    { who: 'a token whose tenant was changed', credential: changed, kind: null },
    { who: 'a token of another run', credential: sibling.token, kind: 'runToken' },
    { who: 'a token of another tenant', credential: stranger.body.token, kind: 'runToken' },
    { who: 'a token of another tenant for this run', credential: crossed, kind: 'runToken', homeless: true },
    { who: 'a service key of another tenant', credential: strangers.service, kind: 'serviceKey' },
    { who: 'an operator key of another tenant', credential: strangers.operator, kind: 'operatorKey' },
  ];
}

/** All that is stored of the victim and its tenant's settings, but for when a service looks at it next. */
export async function stateOf(stack: Stack, { runId, message, pause }: Victim): Promise<unknown[]> {
  const queries: [string, unknown[]][] = [
    ['SELECT to_jsonb(r) AS row FROM runs r WHERE id = $1', [runId]],
    [
      'SELECT to_jsonb(e) AS row FROM events e WHERE intent_id IN (SELECT id FROM intents WHERE run_id = $1) ORDER BY intent_id, version',
      [runId],
    ],
    ["SELECT to_jsonb(i) - 'wake_at' AS row FROM intents i WHERE run_id = $1 ORDER BY id", [runId]],
    ['SELECT to_jsonb(d) AS row FROM dead_messages d WHERE id = $1', [message]],
    ["SELECT to_jsonb(p) AS row FROM pauses p WHERE id = $1 OR tenant = 'acme' OR tenant IS NULL ORDER BY id", [pause]],
    ["SELECT to_jsonb(g) AS row FROM grants g WHERE tenant = 'acme' ORDER BY id", []],
    ["SELECT to_jsonb(count(*)) AS row FROM runs WHERE tenant = 'acme'", []],
  ];
  const found = [];
  for (const [text, values] of queries) found.push(await stack.database.query(text, values));
  return found;
}
