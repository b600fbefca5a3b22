import { type Bus, connectBus } from '@intendant/bus';
import type { ApprovalRequest } from '@intendant/intent';
import { createLogger } from '@intendant/runtime';
import { Store } from '@intendant/store';
import { createDatabase, type NatsServer, proposal, startNats, type TestDatabase } from '@intendant/testing';
import { Egress, Postman } from '@intendant/upstream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { storedCards } from './cards.js';
import { readConfig } from './config.js';
import { Notifier } from './notifier.js';
import { type Receiver, startReceiver } from './receiver.spec-helper.js';
import { SlackAnswersController } from './slack-answers.controller.js';
import { slackChannels } from './slack-channel.js';

const logger = createLogger('spec', 'silent');
const botToken = 'xoxb-of-the-specs';
const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 10_000, interval: 10 });

let nats: NatsServer;
let database: TestDatabase;
let bus: Bus;
let store: Store;
let slack: Receiver;
let postman: Postman;
let notifier: Notifier | undefined;

beforeAll(async () => {
  [nats, database] = await Promise.all([startNats(), createDatabase()]);
  bus = await connectBus({ url: nats.url, name: 'slack-spec' });
  const publish = async (messages: Parameters<Bus['publish']>[0]) => new Set((await bus.publish(messages)).published);
  store = await Store.open({ url: database.url, name: 'slack-spec' }, { publish });
});
afterAll(async () => {
  await store.close();
  await bus.close();
  await Promise.all([nats.stop(), database.drop()]);
});
beforeEach(async () => {
  slack = await startReceiver();
  postman = new Postman(Egress.unlimited);
});
afterEach(async () => {
  await slack.close();
  await notifier?.stop();
  notifier = undefined;
  await postman.close();
});

const says = (body: object) => (response: { end: (text: string) => unknown }) =>
  void response.end(JSON.stringify(body));
const ok = says({ ok: true, ts: '1503435956.000247' });

async function start(channels: Record<string, string>): Promise<void> {
  const config = readConfig({
    INTENDANT_DATABASE_URL: database.url,
    INTENDANT_NATS_URL: nats.url,
    INTENDANT_EGRESS_PRIVATE: '127.0.0.0/8',
    INTENDANT_SLACK: JSON.stringify({ botToken, channels, apiUrl: `${slack.url}/api/` }),
  });
  if (config.slack === null) throw new Error('Slack is set');
  const told = slackChannels(config.slack, storedCards(store), postman);
  notifier = new Notifier(bus, told, logger, {
    publicUrl: 'https://intendant.example',
    schedule: { pausesMs: [1], givenUpAfterMs: 3_600_000 },
  });
  await notifier.start();
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

async function ask(tenant: string, over: Partial<ApprovalRequest> = {}): Promise<string> {
  const recorded = proposal({ tenant });
  const ruling = { allow: 'approved', request: { ...request, ...over } } as const;
  await store.door.execute({ intentId: recorded.intentId, command: { type: 'record', proposal: recorded, ruling } });
  return recorded.intentId;
}

interface Message {
  readonly channel: string;
  readonly blocks: readonly {
    readonly type: string;
    readonly text?: { readonly text: string };
    readonly elements?: readonly { readonly value?: string }[];
  }[];
}
const messages = () => slack.deliveries.map(({ body }): Message => JSON.parse(body));
const valuesOf = ({ blocks }: Message) =>
  blocks.filter(({ type }) => type === 'actions').flatMap(({ elements }) => elements?.map(({ value }) => value) ?? []);

describe('the channel of a tenant', () => {
  test('is told what waits, with buttons about exactly that', async () => {
    slack.next.push(ok);
    await start({ slack1: 'C1ACME' });
    const id = await ask('slack1', { digest: 'd77' });
    await ask('without');
    await eventually(() => expect(slack.deliveries).toHaveLength(1));
    const [delivery] = slack.deliveries;
    expect(delivery).toMatchObject({
      path: '/api/chat.postMessage',
      headers: { authorization: `Bearer ${botToken}`, 'content-type': 'application/json' },
    });
    const [message] = messages();
    expect(message?.channel).toBe('C1ACME');
    expect(message && valuesOf(message)).toEqual([
      JSON.stringify({ id, digest: 'd77' }),
      JSON.stringify({ id, digest: 'd77' }),
    ]);
    expect(delivery?.body).toContain('Refund 2499 cents of ord_1');
    expect(delivery?.body).toContain(`https://intendant.example/v1/approvals/${id}`);
  });

  test('is told what else there is to know before somebody agrees', async () => {
    slack.next.push(ok, ok);
    await start({ slack4: 'C4' });
    const alike = await ask('other');
    const preview = {
      kind: 'shown',
      before: { refunded: 0 },
      after: { refunded: 2499 },
      token: null,
      kept: 'not_kept',
    } as const;
    await ask('slack4', { impact: 'Money leaves the account.', reversible: true, alike, preview });
    await eventually(() => expect(slack.deliveries).toHaveLength(1));
    const [message] = messages();
    const text = message?.blocks.map((block) => block.text?.text).join('\n');
    expect(text).toContain('Impact: Money leaves the account.\nIt can be undone.');
    expect(text).toContain(`It looks like an earlier call, intent ${alike}.`);
    expect(text).toContain('Before: {"refunded":0}\nAfter: {"refunded":2499}');
    await ask('slack4', { preview: { kind: 'asked' } });
    await eventually(() => expect(slack.deliveries).toHaveLength(2));
    expect(slack.deliveries[1]?.body).toContain('nobody can agree before');
  });

  test('is told again when Slack did not take it', async () => {
    slack.next.push(says({ ok: false, error: 'not_in_channel' }), (response) => response.writeHead(500).end(), ok);
    await start({ slack2: 'C2' });
    const id = await ask('slack2');
    await eventually(() => expect(slack.deliveries).toHaveLength(3));
    expect(messages().map((each) => valuesOf(each)[0])).toEqual(Array(3).fill(JSON.stringify({ id, digest: 'd1' })));
  });

  test('is not told of what was decided before', async () => {
    await start({ slack3: 'C3' });
    await notifier?.stop();
    const decided = await ask('slack3');
    const approver = { name: 'olga', roles: ['approver'], groups: [] };
    await store.door.execute({ intentId: decided, command: { type: 'approve', approver, digest: 'd1' } });
    await store.outbox.flush();
    slack.next.push(ok);
    await start({ slack3: 'C3' });
    const id = await ask('slack3');
    await eventually(() => expect(slack.deliveries).toHaveLength(1));
    expect(messages().map((each) => valuesOf(each)[0])).toEqual([JSON.stringify({ id, digest: 'd1' })]);
  });

  test('has to be where calls may go', () => {
    const env = { INTENDANT_DATABASE_URL: 'postgres://a@b/c', INTENDANT_NATS_URL: 'nats://b' };
    const INTENDANT_SLACK = JSON.stringify({ botToken, channels: {} });
    expect(() => readConfig({ ...env, INTENDANT_SLACK, INTENDANT_EGRESS_HOSTS: 'a.example' })).toThrow(
      'INTENDANT_SLACK.apiUrl: slack.com:443 must not be called: it is not in INTENDANT_EGRESS_HOSTS',
    );
  });
});

describe('whoever clicks', () => {
  const answer = async (body: object | string, apiUrl: URL | null = new URL(`${slack.url}/api/`)) => {
    const payload = new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
    await new SlackAnswersController(postman, { apiUrl, logger }).answer({ subject: 'hint', payload });
  };

  test('is answered at the address that came with the click', async () => {
    await answer({ responseUrl: `${slack.url}/actions/1`, text: 'You have approved it.' });
    expect(slack.deliveries).toMatchObject([{ path: '/actions/1' }]);
    expect(JSON.parse(slack.deliveries[0]?.body ?? '')).toMatchObject({ response_type: 'ephemeral' });
    expect(slack.deliveries[0]?.headers).not.toHaveProperty('authorization');
  });

  test('is not answered at an address that is not of Slack, nor by a process without Slack', async () => {
    const other = await startReceiver();
    await answer({ responseUrl: `${other.url}/actions/1`, text: 'x' });
    await answer({ responseUrl: `${slack.url}/actions/1`, text: 'x' }, null);
    await answer('no answer');
    expect([...slack.deliveries, ...other.deliveries]).toEqual([]);
    await other.close();
  });
});
