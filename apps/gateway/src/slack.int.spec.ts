import { createHash, createHmac } from 'node:crypto';
import { type Bus, connectBus } from '@intendant/bus';
import { subjects } from '@intendant/contracts';
import type { ApprovalRequest } from '@intendant/intent';
import { Store } from '@intendant/store';
import { createDatabase, type NatsServer, proposal, startNats, type TestDatabase } from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { readConfig } from './config.js';
import { environment, keys, startGateway, type TestGateway } from './gateway.spec-helper.js';

const secret = '8f742231b10e8888abcd99yyyzzz85a5';
const digestOf = (key: string) => createHash('sha256').update(key).digest('hex');
const operators = ['olga@acme:approver', 'oona@acme:approver', 'vera@acme:viewer', 'otto@umbrella:approver'];
const users = { U0OLGA: 'olga', U0OONA: 'oona', U0VERA: 'vera', U0OTTO: 'otto' };
const responseUrl = 'https://hooks.slack.com/actions/T1/2/x';

let nats: NatsServer;
let database: TestDatabase;
let store: Store;
let bus: Bus;
let gateway: TestGateway;
let heard: { responseUrl: string; text: string }[] = [];

beforeAll(async () => {
  [nats, database] = await Promise.all([startNats(), createDatabase()]);
  store = await Store.open({ url: database.url, name: 'slack-spec' });
  bus = await connectBus({ url: nats.url, name: 'slack-spec' });
  bus.onHint(subjects.hintSlackAnswer, ({ payload }) => void heard.push(JSON.parse(new TextDecoder().decode(payload))));
  await bus.flush();
  gateway = await startGateway(withSlack());
});
afterAll(async () => {
  await gateway?.close();
  await bus?.close();
  await store?.close();
  await Promise.all([nats?.stop(), database?.drop()]);
});
beforeEach(() => {
  heard = [];
});

function withSlack(over: object = {}) {
  return {
    ...environment(database.url, nats.url),
    INTENDANT_OPERATOR_KEYS: operators.map((each) => `${each}=${digestOf(each)}`).join(','),
    INTENDANT_SLACK: JSON.stringify({ signingSecret: secret, users, ...over }),
  };
}

const request: ApprovalRequest = {
  nonce: 'n1',
  digest: 'd1',
  toolFile: 'f1',
  policy: 'p1',
  demands: [{ rule: 'approval', message: 'It always needs a person.' }],
  view: 'Refund 2499 cents of ord_1',
  impact: null,
  reversible: false,
  undo: null,
  redact: [],
  quorum: 1,
  roles: [],
  groups: [],
  selfApproval: false,
  expiresAt: Date.now() + 3_600_000,
  remember: 'run',
  alike: null,
  preview: null,
};

async function waiting(over: Partial<ApprovalRequest> = {}): Promise<string> {
  const recorded = proposal();
  const ruling = { allow: 'approved', request: { ...request, ...over } } as const;
  await store.door.execute({ intentId: recorded.intentId, command: { type: 'record', proposal: recorded, ruling } });
  return recorded.intentId;
}

const state = async (id: string) => (await store.intents.load(id))?.state;

interface Click {
  readonly user?: string;
  readonly action?: string;
  readonly id: string;
  readonly digest?: string;
}

function formOf({ user = 'U0OLGA', action = 'approve', id, digest = 'd1' }: Click): string {
  const payload = {
    type: 'block_actions',
    user: { id: user },
    response_url: responseUrl,
    actions: [{ type: 'button', action_id: action, value: JSON.stringify({ id, digest }) }],
  };
  return new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
}

function signed(body: string, at = Math.floor(Date.now() / 1_000)): Record<string, string> {
  const signature = createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex');
  return {
    'content-type': 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': String(at),
    'x-slack-signature': `v0=${signature}`,
  };
}

const post = (body: string, headers: Record<string, string>) =>
  gateway.call('POST', '/v1/slack/interactions', null, { body, headers });

/** What whoever clicked is told. */
async function click(of: Click): Promise<string> {
  heard = [];
  const body = formOf(of);
  expect(await post(body, signed(body))).toMatchObject({ status: 200, body: {} });
  await vi.waitFor(() => expect(heard).toHaveLength(1));
  expect(heard[0]?.responseUrl).toBe(responseUrl);
  return heard[0]?.text ?? '';
}

describe('a click in Slack', () => {
  it('approves as the operator that the Slack user is', async () => {
    const id = await waiting();
    expect(await click({ id })).toBe(`You have approved payments.refund.create (intent ${id}).`);
    expect(await store.intents.load(id)).toMatchObject({
      state: 'authorized',
      approvals: { given: [{ by: 'olga', digest: 'd1' }] },
    });
  });

  it('refuses as that operator, and the reason says where', async () => {
    const id = await waiting();
    expect(await click({ id, action: 'refuse' })).toContain(`You have refused payments.refund.create (intent ${id}).`);
    const intent = await store.intents.load(id);
    expect(intent?.state).toBe('denied');
    expect(JSON.stringify(intent)).toContain('refused in Slack by olga');
  });

  it('counts once for each person, and says how many are still needed', async () => {
    const id = await waiting({ quorum: 2 });
    expect(await click({ id })).toContain('counts: 1 of 2 have agreed');
    expect(await click({ id })).toContain('counts: 1 of 2 have agreed');
    expect(await state(id)).toBe('awaiting_approval');
    expect(await click({ id, user: 'U0OONA' })).toContain('You have approved');
    expect(await state(id)).toBe('authorized');
  });

  it.each([
    [
      'who is not an operator, though in the channel',
      { user: 'U0EVE' },
      /^Nothing was changed: you \(U0EVE\) are not an operator/,
    ],
    ['who only may look', { user: 'U0VERA' }, /vera has the roles viewer; this needs the role approver/],
    ['of another tenant', { user: 'U0OTTO' }, /^There is no such intent\.$/],
    ['who has seen something else', { digest: 'd0' }, /has changed since you saw it\. Nothing was changed/],
  ])('of somebody %s changes nothing', async (_, over, text) => {
    for (const action of ['approve', 'refuse']) {
      const id = await waiting();
      expect(await click({ id, action, ...over })).toMatch(text);
      expect(await state(id)).toBe('awaiting_approval');
    }
  });

  it('about what was decided already says so', async () => {
    const id = await waiting();
    await click({ id, action: 'refuse' });
    expect(await click({ id, user: 'U0OONA' })).toContain('is denied, so nobody is asked about it');
  });

  it('of two that race, one for and one against, has one answer', async () => {
    const id = await waiting();
    const bodies = [formOf({ id }), formOf({ id, user: 'U0OONA', action: 'refuse' })];
    await Promise.all(bodies.map((body) => post(body, signed(body))));
    await vi.waitFor(() => expect(heard).toHaveLength(2));
    expect(['authorized', 'denied']).toContain(await state(id));
  });

  it('is not taken from anybody but Slack, just now, with these bytes', async () => {
    const id = await waiting();
    const body = formOf({ id });
    const now = Math.floor(Date.now() / 1_000);
    const { 'x-slack-signature': _, ...unsigned } = signed(body);
    for (const headers of [unsigned, signed(`${body} `), signed(body, now - 310), signed(body, now + 310)]) {
      expect(await post(body, headers)).toMatchObject({ status: 401, body: { error: { code: 'unauthenticated' } } });
    }
    expect(await post('', signed('', now - 310))).toMatchObject({ status: 401 });
    for (const credential of [keys.service, 'olga@acme:approver']) {
      const answer = await gateway.call('POST', '/v1/slack/interactions', credential, { body, headers: unsigned });
      expect(answer.status).toBe(401);
    }
    expect(await state(id)).toBe('awaiting_approval');
    expect(heard).toEqual([]);
  });

  it('of another kind is refused with what is wrong', async () => {
    const body = new URLSearchParams({ payload: '{"type":"view_submission"}' }).toString();
    expect(await post(body, signed(body))).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('payload.type has to be block_actions') } },
    });
  });

  it('does not open other routes for forms', async () => {
    const answer = await gateway.call('POST', '/v1/runs', keys.service, {
      body: 'user=ada',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(answer).toMatchObject({ status: 415, body: { error: { code: 'invalid_message' } } });
  });

  it('is not found where Slack is not set up', async () => {
    const other = await startGateway(environment(database.url, nats.url));
    const body = formOf({ id: ulid() });
    const answer = await other.call('POST', '/v1/slack/interactions', null, { body, headers: signed(body) });
    await other.close();
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  });
});

describe('users of Slack', () => {
  it('have to be operators', () => {
    expect(() => readConfig(withSlack({ users: { U0EVE: 'eve' } }))).toThrow(
      'INTENDANT_SLACK.users.U0EVE: must be the name of one operator of INTENDANT_OPERATOR_KEYS; eve is not one of them (olga, oona, vera, otto)',
    );
  });

  it('cannot be two people, and may be one with two keys', () => {
    const env = (...items: string[]) => ({
      ...withSlack({ users: { U0OLGA: 'olga' } }),
      INTENDANT_OPERATOR_KEYS: items.map((each, index) => `${each}=${digestOf(`${index}`)}`).join(','),
    });
    expect(() => readConfig(env('olga@acme:viewer', 'olga@umbrella:viewer'))).toThrow('olga is there several times');
    const config = readConfig(env('olga@acme:approver', 'olga@acme:approver'));
    expect(config.slack?.operators.get('U0OLGA')).toMatchObject({ name: 'olga', tenant: 'acme' });
  });
});
