import { Refusal, type Session, subjects } from '@intendant/contracts';
import type { Command, Terms } from '@intendant/intent';
import { Store } from '@intendant/store';
import {
  createDatabase,
  type NatsServer,
  proposal,
  quickTerms,
  startNats,
  type TestDatabase,
} from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerOn, environment, keys, startGateway, type TestGateway, tokenFor } from './gateway.spec-helper.js';

type Page = {
  intents: { intentId: string; reason: string }[];
  messages: Record<string, unknown>[];
  nextCursor: string | null;
};

describe('dead letters', () => {
  let nats: NatsServer;
  let database: TestDatabase;
  let gateway: TestGateway;
  let store: Store;
  const session: Session = {
    ...{ tenant: 'acme', runId: `run_${ulid()}`, user: 'ada', permissions: [], phase: null },
    ...{ profile: 'batch', expiresAt: 0 },
  };
  const { error } = new Refusal('invalid_message', 'Not JSON.');

  const deadIntent = async (terms: Partial<Terms>, tenant = 'acme') => {
    const p = proposal({ tenant, terms: { ...quickTerms, ...terms } });
    const execute = (command: Command) => store.door.execute({ intentId: p.intentId, command });
    await execute({ type: 'record', proposal: p, ruling: { allow: true } });
    await execute({ type: 'start_attempt', attemptId: 'a' });
    const verdict = { kind: 'unknown', cause: 'reset_after_send', detail: 'reset' } as const;
    await execute({ type: 'record_verdict', attemptId: 'a', verdict, jitter: 0 });
    const state = (await store.intents.load(p.intentId))?.state;
    if (state === 'dead_lettered') return p.intentId;
    await execute({
      type: 'record_lookup',
      answer: { kind: 'cannot_tell', detail: '503' },
      askedAt: Date.now() + 3_600_000,
    });
    expect((await store.intents.load(p.intentId))?.state).toBe('dead_lettered');
    return p.intentId;
  };
  const noWayToTell: Partial<Terms> = { guarantee: 'none', lookup: 'none', retentionMs: 0 };
  const deadMessage = async (payload: Uint8Array, sender: Session | null, tenant = 'acme') => {
    await store.deadMessages.keep({ subject: subjects.intents(tenant), payload, credential: '' }, sender, error);
    const [message] = await store.deadMessages.list({ limit: 1 });
    return message?.id ?? '';
  };
  const list = async (key: string, query = '') =>
    (await gateway.call('GET', `/v1/dead-letters${query}`, key)).body as unknown as Page;
  const replay = (body: object, key: string = keys.operator) =>
    gateway.call('POST', '/v1/dead-letters/replay', key, { body });

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

  it('lists intents and messages on the same pages, newest first, without payloads', async () => {
    const intent = await deadIntent(noWayToTell);
    const message = await deadMessage(Buffer.from('{"secret"'), session);
    const fromNobody = await deadMessage(Buffer.from('??'), null);
    await deadMessage(Buffer.from('elsewhere'), { ...session, tenant: 'umbrella' }, 'umbrella');

    const all = await list(keys.viewer);
    expect(all.intents).toMatchObject([{ intentId: intent, reason: 'no_way_to_tell' }]);
    const listed = { subject: 'intendant.intents.acme', stepId: null, error, receivedAt: expect.any(String) };
    expect(all.messages).toEqual([
      { id: fromNobody, ...listed, sender: null },
      {
        ...{ id: message, ...listed },
        sender: { tenant: 'acme', runId: session.runId, user: 'ada' },
      },
    ]);
    const pages = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Page = await list(keys.viewer, `?limit=1${cursor && `&cursor=${cursor}`}`);
      pages.push([...page.intents.map((i) => i.intentId), ...page.messages.map((m) => m['id'])]);
      cursor = page.nextCursor;
    }
    expect(pages).toEqual([[fromNobody], [message], [intent]]);
    expect((await gateway.call('GET', '/v1/dead-letters', await tokenFor(session.runId))).status).toBe(403);
  });

  it('shows what happened, what is known and what can be done', async () => {
    const intent = await deadIntent(noWayToTell);
    const { body } = await gateway.call('GET', `/v1/dead-letters/${intent}`, keys.viewer);
    expect(body).toMatchObject({
      kind: 'intent',
      result: { intentId: intent, status: 'dead_lettered', outcome: 'unknown' },
    });
    expect((body['events'] as { type: string }[]).at(-1)).toMatchObject({ type: 'dead_lettered' });
    expect(body['actions']).toMatchObject([
      { action: 'replay', possible: false, reason: expect.stringContaining('resolve it with evidence') },
      { action: 'resolve executed', possible: true, reason: null },
      { action: 'resolve not_executed' },
    ]);
  });

  it('shows a message with the beginning of its payload', async () => {
    const id = await deadMessage(Buffer.from('not json'), null);
    const { body } = await gateway.call('GET', `/v1/dead-letters/${id}`, keys.viewer);
    expect(body).toMatchObject({
      ...{ kind: 'message', id, error: { code: 'invalid_message' } },
      payload: { bytes: 8, encoding: 'utf8', text: 'not json', truncated: false },
      actions: [
        { action: 'replay', possible: false },
        { action: 'dismiss', possible: true, reason: null },
      ],
    });
    expect((await gateway.call('GET', `/v1/dead-letters/${id}`, keys.otherOperator)).status).toBe(404);
    const binary = await deadMessage(Uint8Array.of(0xff, 0xfe), null);
    expect((await gateway.call('GET', `/v1/dead-letters/${binary}`, keys.viewer)).body).toMatchObject({
      payload: { encoding: 'base64', text: '//4=' },
    });
  });

  it('replays an intent by reconciling it first, in the name of the operator', async () => {
    const id = await deadIntent({ settleMs: 0, deadlineMs: 0 });
    const { status, body } = await replay({ ids: [id], reason: 'the provider is back' });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { results: [{ id, intentId: id, status: 'unknown' }] },
    });
    const last = (await store.intents.history(id)).at(-1);
    expect(last?.event).toMatchObject({ type: 'replay_requested', by: 'olga', reason: 'the provider is back' });
    expect(await replay({ ids: [id], reason: 'again' })).toMatchObject({
      ...{ status: 409, body: { error: { details: { reason: 'not_dead_lettered', state: 'unknown' } } } },
    });
  });

  it('does not replay what a replay could double', async () => {
    const id = await deadIntent(noWayToTell);
    expect(await replay({ ids: [id], reason: 'why not' })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('resolve it with evidence') },
    });
  });

  it('has a message admitted again by the policy service, at the operator’s request', async () => {
    const id = await deadMessage(Buffer.from('{"tool":"x.y"}'), session);
    const seen: unknown[] = [];
    const stop = await answerOn(nats.url, subjects.rpcReplayMessage, ({ payload, headers }) => {
      seen.push(JSON.parse(Buffer.from(payload).toString()), headers.get('Authorization'));
      return { intentId: 'i', status: 'authorized' };
    });
    const answer = await replay({ ids: [id], reason: 'fixed' });
    await stop();
    expect(answer).toMatchObject({ status: 200, body: { results: [{ id, intentId: 'i', status: 'authorized' }] } });
    expect(seen).toEqual([{ id }, `Bearer ${keys.operator}`]);
  });

  it('takes one dead letter at a time, from an operator, of the own tenant', async () => {
    const id = await deadIntent({ settleMs: 0, deadlineMs: 0 });
    const theirs = await deadIntent({ settleMs: 0, deadlineMs: 0 }, 'umbrella');
    expect(await replay({ ids: [id, theirs], reason: 'all' })).toMatchObject({
      status: 422,
      body: { detail: expect.stringContaining('not supported yet') },
    });
    expect(await replay({ filter: { tool: 'x' }, reason: 'all' })).toMatchObject({ status: 422 });
    expect(await replay({ ids: ['x'] })).toMatchObject({ status: 400 });
    expect(await replay({ ids: [theirs], reason: 'r' })).toMatchObject({ status: 404 });
    expect(await replay({ ids: [id], reason: 'r' }, keys.viewer)).toMatchObject({ status: 403 });
  });

  it('dismisses a message once, with who and why, and it leaves the list', async () => {
    const id = await deadMessage(Buffer.from('a probe'), null);
    const dismiss = (reason: string, key: string = keys.operator, of = id) =>
      gateway.call('POST', `/v1/dead-letters/${of}/dismiss`, key, { body: { reason } });
    expect(await dismiss('r', keys.viewer)).toMatchObject({ status: 403 });
    expect(await dismiss('r', keys.otherOperator)).toMatchObject({ status: 404 });
    expect(await dismiss(' ')).toMatchObject({ status: 400 });

    const dismissal = { at: expect.any(String), by: 'olga', reason: 'a probe' };
    const first = await dismiss('a probe');
    expect(first).toMatchObject({ status: 200, body: { id, dismissal } });
    expect(await dismiss('so already')).toMatchObject({ status: 200, body: first.body });
    expect((await list(keys.viewer)).messages.map((message) => message['id'])).not.toContain(id);
    expect((await gateway.call('GET', `/v1/dead-letters/${id}`, keys.viewer)).body).toMatchObject({
      dismissal: first.body['dismissal'],
      actions: [{}, { action: 'dismiss', possible: false, reason: expect.stringContaining('olga dismissed it') }],
    });
  });

  it('does not dismiss an intent, nor a message that was replayed into one', async () => {
    const intent = await deadIntent(noWayToTell);
    const message = await deadMessage(Buffer.from('replayed'), session);
    await store.deadMessages.markReplayed(message, 'olga', intent);
    const dismiss = (id: string) =>
      gateway.call('POST', `/v1/dead-letters/${id}/dismiss`, keys.operator, { body: { reason: 'r' } });
    expect(await dismiss(intent)).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict' }, detail: expect.stringContaining('resolve it with evidence instead') },
    });
    expect(await dismiss(message)).toMatchObject({ status: 409, body: { error: { details: { intentId: intent } } } });
    expect(await dismiss(ulid())).toMatchObject({ status: 404 });
  });

  it('runs the sweepers at an operator’s request and returns their counts', async () => {
    const stop = await answerOn(nats.url, subjects.rpcReconcile, () => ({ 'settle-unknown': { found: 1 } }));
    const answer = await gateway.call('POST', '/v1/reconcile', keys.operator);
    await stop();
    expect(answer).toMatchObject({ status: 200, body: { 'settle-unknown': { found: 1 } } });
    expect((await gateway.call('POST', '/v1/reconcile', keys.viewer)).status).toBe(403);
    expect((await gateway.call('POST', '/v1/reconcile', keys.operator)).status).toBe(503);
  });
});
