import { Store } from '@intendant/store';
import {
  approvalRequest,
  createDatabase,
  type NatsServer,
  proposal,
  startNats,
  type TestDatabase,
} from '@intendant/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { environment, keys, startGateway, type TestGateway } from './gateway.spec-helper.js';

let nats: NatsServer;
let database: TestDatabase;
let gateway: TestGateway;
let store: Store;

beforeAll(async () => {
  [nats, database] = await Promise.all([startNats(), createDatabase()]);
  gateway = await startGateway(environment(database.url, nats.url));
  store = await Store.open({ url: database.url, name: 'spec' });
});
afterAll(async () => {
  await gateway?.close();
  await store?.close();
  await Promise.all([nats?.stop(), database?.drop()]);
});

it('the card of what has expired says that nobody can decide any more, before any sweeper has seen it', async () => {
  const p = proposal();
  const ruling = { allow: 'approved', request: approvalRequest({ expiresAt: Date.now() - 1_000 }) } as const;
  await store.door.execute({ intentId: p.intentId, command: { type: 'record', proposal: p, ruling } });
  const { body } = await gateway.call('GET', `/v1/approvals/${p.intentId}`, keys.everywhere);
  const reason = expect.stringContaining('has expired. Nothing was sent and nothing will be.');
  expect(body['actions']).toMatchObject([
    { action: 'approve', possible: false, reason },
    { action: 'refuse', possible: false, reason },
    { action: 'withdraw', possible: false },
  ]);
});
