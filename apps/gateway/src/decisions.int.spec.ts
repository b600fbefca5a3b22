import type { Proposal } from '@intendant/intent';
import { Store } from '@intendant/store';
import { createDatabase, type NatsServer, proposal, startNats, type TestDatabase } from '@intendant/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environment, keys, startGateway, type TestGateway } from './gateway.spec-helper.js';

describe('the list of decisions', () => {
  let nats: NatsServer;
  let database: TestDatabase;
  let gateway: TestGateway;
  let store: Store;
  const ids: string[] = [];

  const record = async (over: Partial<Proposal>) => {
    const p = proposal(over);
    const command = { type: 'record', proposal: p, ruling: { allow: true } } as const;
    await store.door.execute({ intentId: p.intentId, command });
    return p.intentId;
  };
  const list = async (query: string, key: string = keys.viewer) => {
    const { status, body } = await gateway.call('GET', `/v1/decisions?${query}`, key);
    const items = (body['items'] ?? []) as { intentId: string; tenant: string; tool: string }[];
    return { status, body, items, listed: items.map(({ intentId }) => intentId) };
  };

  beforeAll(async () => {
    [nats, database] = await Promise.all([startNats(), createDatabase()]);
    gateway = await startGateway(environment(database.url, nats.url));
    store = await Store.open({ url: database.url, name: 'spec' });
    for (const tool of ['mail.send', 'pay.refund', 'mail.send']) ids.push(await record({ tool }));
    ids.sort();
    await record({ tenant: 'umbrella', tool: 'mail.send' });
  });
  afterAll(async () => {
    await gateway?.close();
    await store?.close();
    await Promise.all([nats?.stop(), database?.drop()]);
  });

  it('is oldest first and goes on where a page ended', async () => {
    const { status, listed, body, items } = await list('since=1h&limit=2');
    expect([status, listed, body['nextCursor']]).toEqual([200, ids.slice(0, 2), ids[1]]);
    expect(items[0]).toMatchObject({ tenant: 'acme', args: { order_id: 'ord_1' }, decision: 'allow', toolVersion: 1 });
    const next = await list(`since=${body['since']}&cursor=${body['nextCursor']}`);
    expect([next.listed, next.body['nextCursor']]).toEqual([ids.slice(2), null]);
    expect((await list('since=1h&tool=pay.refund')).listed).toHaveLength(1);
  });

  it('shows the tenant of the operator only, and all tenants to those who serve all', async () => {
    const tenants = (found: { items: readonly { tenant: string }[] }) => [...new Set(found.items.map((i) => i.tenant))];
    expect(tenants(await list('since=1h'))).toEqual(['acme']);
    expect(tenants(await list('since=1h', keys.otherOperator))).toEqual(['umbrella']);
    expect(tenants(await list('since=1h', keys.everywhere)).toSorted()).toEqual(['acme', 'umbrella']);
    expect(tenants(await list('since=1h&tenant=umbrella', keys.everywhere))).toEqual(['umbrella']);
    const elsewhere = await list('since=1h&tenant=umbrella');
    expect(elsewhere).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
  });

  it('is for operators', async () => {
    expect((await list('since=1h', keys.service)).status).toBe(403);
    expect((await gateway.call('GET', '/v1/decisions?since=1h', null)).status).toBe(401);
  });

  it.each([
    ['', 'since'],
    ['since=yesterday', 'since'],
    ['since=20y', 'since'],
    ['since=1h&limit=201', 'limit'],
    ['since=1h&tenant=A', 'tenant'],
    ['since=1h&state=denied', 'state'],
  ])('says what is wrong with ?%s', async (query, field) => {
    const { status, body } = await list(query);
    expect([status, body]).toMatchObject([400, { error: { details: { problems: [{ pointer: `/${field}` }] } } }]);
  });
});
