import { type Bus, connectBus } from '@intendant/bus';
import { subjects } from '@intendant/contracts';
import { createLogger } from '@intendant/runtime';
import { type NatsServer, startNats } from '@intendant/testing';
import { Postman } from '@intendant/upstream';
import { pino } from 'pino';
import { ulid } from 'ulid';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Channel } from './channel.js';
import { readConfig } from './config.js';
import { consumerOf, Notifier, type NotifierOptions } from './notifier.js';
import { hang, isGenuine, type Receiver, startReceiver, status } from './receiver.spec-helper.js';
import { webhook } from './webhook.js';

const secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const newSecret = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const soon = { pausesMs: [1, 1, 1], givenUpAfterMs: 3_600_000 };
const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 10_000, interval: 10 });

let nats: NatsServer;
let bus: Bus;
let receiver: Receiver;
let other: Receiver;
let count = 0;
let name = '';
/** Those of the last start. */
const channels = new Map<string, Channel>();
const open: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  nats = await startNats();
  bus = await connectBus({ url: nats.url, name: 'notifier-spec' });
});
afterAll(async () => {
  await bus.close();
  await nats.stop();
});
beforeEach(async () => {
  count += 1;
  name = `spec${count}`;
  [receiver, other] = await Promise.all([startReceiver(), startReceiver()]);
});
afterEach(async () => {
  // A receiver that hangs lets its sender go first.
  await Promise.all([receiver.close(), other.close()]);
  for (const close of open.splice(0)) await close();
});

/** A notifier over these webhooks, each a tenant's own unless it says otherwise. */
async function start(
  webhooks: object[],
  options: Partial<NotifierOptions> = {},
  logger = createLogger('spec', 'silent'),
) {
  const config = readConfig({
    INTENDANT_DATABASE_URL: 'postgres://a@b/c',
    INTENDANT_NATS_URL: nats.url,
    INTENDANT_EGRESS_PRIVATE: '127.0.0.0/8',
    INTENDANT_WEBHOOKS: JSON.stringify(webhooks.map((each) => ({ name, secret, tenant: name, ...each }))),
  });
  const postman = new Postman(config.egress);
  const told = config.webhooks.map((setting) => webhook(setting, postman));
  for (const channel of told) channels.set(channel.name, channel);
  const notifier = new Notifier(bus, told, logger, { publicUrl: null, schedule: soon, ...options });
  open.push(() => notifier.stop());
  open.push(() => postman.close());
  await notifier.start();
  return notifier;
}

/** Publishes as the outbox does; returns the id of the event. */
async function publish(event = 'dead_lettered', tenant = name): Promise<string> {
  const intentId = ulid();
  const id = `${intentId}-3`;
  const payload = JSON.stringify({
    specversion: '1.0',
    id,
    source: 'intendant',
    type: `intendant.intent.${event}`,
    subject: intentId,
    time: '2026-01-01T10:00:00.000Z',
    datacontenttype: 'application/json',
    tenant,
    data: { version: 3, intentId, summary: 'Zoë' },
  });
  await send(subjects.event(tenant, 'run_1', intentId, event), id, payload);
  return id;
}

async function send(subject: string, msgId: string, payload: string): Promise<void> {
  expect((await bus.publish([{ subject, msgId, payload }])).failed).toEqual([]);
}

async function consumer(of = name) {
  const channel = channels.get(`webhook-${of}`);
  if (channel === undefined) throw new Error(`no webhook ${of}`);
  return (await bus.durable(consumerOf(channel, new Date()))).info();
}

/** Nothing waits for its first or another delivery. */
const atRest = (of = name) =>
  eventually(async () => expect(await consumer(of)).toMatchObject({ num_pending: 0, num_ack_pending: 0 }));

describe('a webhook', () => {
  test('gets each event once, signed, as it was published and with a link', async () => {
    await start([{ url: `${receiver.url}/hook?to=1` }], { publicUrl: 'https://intendant.example' });
    const ids = [await publish(), await publish('outcome_unknown'), await publish('approval_requested')];
    await eventually(() => expect(receiver.ids().sort()).toEqual([...ids].sort()));
    await atRest();
    expect(receiver.deliveries).toHaveLength(3);
    for (const delivery of receiver.deliveries) {
      expect(isGenuine(delivery, secret)).toBe(true);
      expect(isGenuine(delivery, newSecret)).toBe(false);
      expect(delivery).toMatchObject({ path: '/hook?to=1', headers: { 'content-type': 'application/json' } });
      const event = JSON.parse(delivery.body);
      expect(delivery.headers['webhook-id']).toBe(event.id);
      const place = event.type.endsWith('approval_requested') ? 'approvals' : 'intents';
      expect(event).toMatchObject({ specversion: '1.0', tenant: name, data: { summary: 'Zoë' } });
      expect(event.link).toBe(`https://intendant.example/v1/${place}/${event.subject}`);
    }
  });

  test('gets no link where nobody said what the public address is', async () => {
    await start([{ url: receiver.url }]);
    await publish();
    await eventually(() => expect(receiver.deliveries).toHaveLength(1));
    expect(JSON.parse(receiver.deliveries[0]?.body ?? '')).not.toHaveProperty('link');
  });

  test('gets both signatures while its secret is changed', async () => {
    await start([{ url: receiver.url, secret: newSecret, previousSecret: secret }]);
    await publish();
    await eventually(() => expect(receiver.deliveries).toHaveLength(1));
    for (const each of [secret, newSecret]) expect(receiver.deliveries.map((d) => isGenuine(d, each))).toEqual([true]);
  });

  test.each([500, 503, 404, 301])('that answers %i is told again, with the same id and body', async (code) => {
    receiver.next.push(status(code, { location: other.url }), status(code));
    await start([{ url: receiver.url }]);
    const id = await publish();
    await eventually(() => expect(receiver.ids()).toEqual([id, id, id]));
    await atRest();
    expect(new Set(receiver.deliveries.map(({ body }) => body)).size).toBe(1);
    for (const delivery of receiver.deliveries) expect(isGenuine(delivery, secret)).toBe(true);
    expect(other.deliveries, 'redirects are not followed').toEqual([]);
  });

  test('that is not there is told when it is', async () => {
    await receiver.close();
    const lines: string[] = [];
    await start([{ url: receiver.url }], {}, pino({ level: 'warn' }, { write: (line: string) => lines.push(line) }));
    const id = await publish();
    await eventually(() => expect(lines.join('')).toContain('connect_refused'));
    receiver = await startReceiver(Number(new URL(receiver.url).port));
    await eventually(() => expect(receiver.ids()).toEqual([id]));
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ destination: `webhook-${name}`, id, event: 'dead_lettered' });
    expect(lines.join('')).not.toContain(secret.slice(6));
  });

  test('that says 410 is not told of that event again, and is told of the next', async () => {
    receiver.next.push(status(410));
    const lines: string[] = [];
    await start([{ url: receiver.url }], {}, pino({ level: 'error' }, { write: (line: string) => lines.push(line) }));
    const id = await publish();
    await atRest();
    const next = await publish();
    await eventually(() => expect(receiver.ids()).toEqual([id, next]));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { id, why: 'http_410', msg: 'a notice is given up: its destination was not told' },
    ]);
  });

  test('that never takes an event is given up at the end of the schedule, and the log has the id', async () => {
    receiver.next.push(...Array.from({ length: 9 }, () => status(500)));
    const lines: string[] = [];
    const logger = pino({ level: 'error' }, { write: (line: string) => lines.push(line) });
    await start([{ url: receiver.url }], { schedule: { pausesMs: [1, 1, 1], givenUpAfterMs: 0 } }, logger);
    const id = await publish();
    await eventually(() => expect(lines).toHaveLength(1));
    await atRest();
    expect(receiver.ids()).toEqual([id, id, id, id]);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ id, destination: `webhook-${name}`, why: 'http_500', tries: 4 });
  });

  test('is told at the time it asks for', async () => {
    receiver.next.push(status(429, { 'retry-after': '1' }));
    await start([{ url: receiver.url }]);
    await publish();
    await eventually(() => expect(receiver.deliveries).toHaveLength(1));
    const from = performance.now();
    await eventually(() => expect(receiver.deliveries).toHaveLength(2));
    expect(performance.now() - from).toBeGreaterThan(900);
  });

  test('may answer with more than is read', async () => {
    receiver.next.push((response) => response.end('x'.repeat(1_000_000)));
    await start([{ url: receiver.url }]);
    await publish();
    await eventually(() => expect(receiver.deliveries).toHaveLength(1));
    await atRest();
    expect(receiver.deliveries).toHaveLength(1);
  });

  test('is not told of what is no event of ours, and the log says so', async () => {
    const lines: string[] = [];
    await start([{ url: receiver.url }], {}, pino({ level: 'error' }, { write: (line: string) => lines.push(line) }));
    const subject = subjects.event(name, 'run_1', 'x', 'dead_lettered');
    await send(subject, `${name}-1`, 'no JSON');
    await send(subject, `${name}-2`, JSON.stringify({ id: 'a\r\nx: y', type: 'a.b', subject: 'c' }));
    await eventually(() => expect(lines).toHaveLength(2));
    await atRest();
    expect(receiver.deliveries).toEqual([]);
  });
});

describe('destinations', () => {
  test('do not wait for another that hangs', async () => {
    receiver.next.push(...Array.from({ length: 50 }, () => hang));
    await start([{ url: receiver.url }, { url: other.url, name: `${name}b` }]);
    const ids: string[] = [];
    for (let i = 0; i < 30; i += 1) ids.push(await publish());
    await eventually(() => expect(other.ids().sort()).toEqual([...ids].sort()));
    expect(receiver.deliveries.length).toBeLessThan(30);
  });

  test('hear of what is new while very much waits for another try', async () => {
    await start([{ url: receiver.url }], { schedule: { pausesMs: [60_000], givenUpAfterMs: 3_600_000 } });
    expect((await consumer()).config.max_ack_pending).toBe(-1);
    receiver.next.push(...Array.from({ length: 40 }, () => status(500)));
    for (let i = 0; i < 40; i += 1) await publish();
    await eventually(() => expect(receiver.deliveries).toHaveLength(40));
    const id = await publish();
    await eventually(() => expect(receiver.ids().at(-1)).toBe(id));
    await eventually(async () => expect(await consumer()).toMatchObject({ num_pending: 0, num_ack_pending: 40 }));
  });

  test('hear of their own tenant and their own events only', async () => {
    await start([
      { url: `${receiver.url}/own`, events: ['committed', 'dead_lettered'] },
      { url: `${receiver.url}/all`, name: `${name}all`, tenant: '*', events: ['denied'] },
    ]);
    const own = [await publish('committed'), await publish('dead_lettered')];
    await publish('failed');
    await publish('committed', `${name}x`);
    const all = [await publish('denied'), await publish('denied', `${name}x`)];
    await atRest();
    await atRest(`${name}all`);
    const heard = (path: string) =>
      receiver.deliveries.filter((d) => d.path === path).map((d) => d.headers['webhook-id']);
    expect(heard('/own').sort()).toEqual([...own].sort());
    expect(heard('/all').sort()).toEqual([...all].sort());
  });

  test('keep their place while nobody runs, and hear from then on of what the setting says', async () => {
    const first = await start([{ url: receiver.url }]);
    const ids = [await publish()];
    await eventually(() => expect(receiver.ids()).toEqual(ids));
    await first.stop();
    ids.push(await publish());
    await start([{ url: receiver.url, events: ['dead_lettered', 'expired'] }]);
    ids.push(await publish('expired'));
    await atRest();
    expect(receiver.ids().sort()).toEqual([...ids].sort());
  });

  test('share their place with all replicas: each event goes out once', async () => {
    await Promise.all([start([{ url: receiver.url }]), start([{ url: receiver.url }])]);
    const ids: string[] = [];
    for (let i = 0; i < 40; i += 1) ids.push(await publish());
    await eventually(() => expect(receiver.ids().sort()).toEqual([...ids].sort()));
    await atRest();
    expect(receiver.deliveries).toHaveLength(40);
  });

  test('that are none are no mistake, and the log says so once', async () => {
    const lines: string[] = [];
    await start([], {}, pino({ level: 'info' }, { write: (line: string) => lines.push(line) }));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('no destination is set');
  });

  test('hear of everything when the bus has lost what it stored', async () => {
    await start([{ url: receiver.url }]);
    await nats.kill();
    await eventually(() => expect(bus.status()).toBe('reconnecting'));
    nats.wipe();
    await nats.restart();
    await eventually(() => expect(bus.status()).toBe('connected'));
    const id = await publish();
    await eventually(() => expect(receiver.ids()).toEqual([id]));
  });
});
