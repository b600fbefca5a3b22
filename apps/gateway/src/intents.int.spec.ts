import { type Bus, commitHints, connectBus } from '@intendant/bus';
import type { Command, Proposal } from '@intendant/intent';
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
import { environment, keys, startGateway, type TestGateway, tokenFor } from './gateway.spec-helper.js';

describe('reading and changing intents', () => {
  let nats: NatsServer;
  let database: TestDatabase;
  let gateway: TestGateway;
  let bus: Bus;
  let store: Store;

  const execute = (intentId: string, command: Command) => store.door.execute({ intentId, command });
  const record = async (
    over: Partial<Proposal> = {},
    ruling: Extract<Command, { type: 'record' }>['ruling'] = { allow: true },
  ) => {
    const p = proposal(over);
    await execute(p.intentId, { type: 'record', proposal: p, ruling });
    return p;
  };
  const start = (intentId: string, attemptId = ulid()) =>
    execute(intentId, { type: 'start_attempt', attemptId }).then(() => attemptId);
  const verdict = (
    intentId: string,
    attemptId: string,
    over: Extract<Command, { type: 'record_verdict' }>['verdict'],
  ) => execute(intentId, { type: 'record_verdict', attemptId, verdict: over, jitter: 0 });
  const unknown = { kind: 'unknown', cause: 'http_502', detail: 'bad gateway' } as const;

  beforeAll(async () => {
    [nats, database] = await Promise.all([startNats(), createDatabase()]);
    gateway = await startGateway(environment(database.url, nats.url));
    bus = await connectBus({ url: nats.url, name: 'spec' });
    store = await Store.open({ url: database.url, name: 'spec' }, { committed: commitHints(bus) });
  });
  afterAll(async () => {
    await gateway?.close();
    await store?.close();
    await bus?.close();
    await Promise.all([nats?.stop(), database?.drop()]);
  });

  it('answers a waiting caller as soon as there is an outcome', async () => {
    const { intentId, runId } = await record();
    const token = await tokenFor(runId);
    const waiting = gateway.call('GET', `/v1/intents/${intentId}`, token, { headers: { prefer: 'wait=20' } });
    const attemptId = await start(intentId);
    await verdict(intentId, attemptId, { kind: 'executed', data: { refund_id: 're_1' } });
    const { status, headers, body } = await waiting;
    expect(status).toBe(200);
    expect(headers.get('preference-applied')).toBe('wait=20');
    expect(body).toMatchObject({
      intentId,
      status: 'committed',
      outcome: 'executed',
      replayed: false,
      data: { refund_id: 're_1' },
    });
  });

  it('answers 202 while the outcome is open', async () => {
    const { intentId, runId } = await record();
    await verdict(intentId, await start(intentId), unknown);
    const answer = await gateway.call('GET', `/v1/intents/${intentId}`, await tokenFor(runId), {
      headers: { prefer: 'wait=1' },
    });
    expect(answer).toMatchObject({ status: 202, body: { status: 'unknown', error: { nextAction: 'check_outcome' } } });
  });

  it('tells operators, not agents, until when it may safely be sent again', async () => {
    const { intentId, runId, terms } = await record({
      terms: { ...quickTerms, guarantee: 'idempotency_key', retentionMs: 60_000 },
    });
    const read = async (credential: string) => (await gateway.call('GET', `/v1/intents/${intentId}`, credential)).body;
    expect(await read(keys.viewer)).toMatchObject({ safeResendUntil: null });
    await start(intentId);
    const started = (await store.intents.load(intentId))?.attempts[0]?.startedAt ?? 0;
    const until = new Date(started + 60_000 - terms.leaseMs).toISOString();
    expect(await read(keys.viewer)).toMatchObject({ status: 'dispatching', safeResendUntil: until });
    expect(await read(await tokenFor(runId))).not.toHaveProperty('safeResendUntil');
  });

  it('marks the result of a sandbox call', async () => {
    const { intentId, runId } = await record({ sandbox: true });
    const { body } = await gateway.call('GET', `/v1/intents/${intentId}`, await tokenFor(runId));
    expect(body).toMatchObject({ intentId, sandbox: true });
  });

  it('reads a denied intent without denying the reading', async () => {
    const failure = { code: 'permission_denied', message: 'Not allowed.', details: {} };
    const { intentId, runId } = await record({}, { allow: false, failure });
    const answer = await gateway.call('GET', `/v1/intents/${intentId}`, await tokenFor(runId));
    expect(answer).toMatchObject({ status: 200, body: { status: 'denied', error: { code: 'permission_denied' } } });
  });

  it('does not tell other runs and other tenants that an intent exists', async () => {
    const { intentId, runId } = await record();
    const other = await tokenFor(`run_${ulid()}`);
    const sameRunElsewhere = await tokenFor(runId, 'umbrella');
    const answers = [other, sameRunElsewhere, keys.otherOperator].flatMap((credential) => [
      gateway.call('GET', `/v1/intents/${intentId}`, credential),
      gateway.call('GET', `/v1/intents/${intentId}/events`, credential),
      gateway.call('POST', `/v1/intents/${intentId}/cancel`, credential),
    ]);
    answers.push(gateway.call('GET', `/v1/intents/${ulid()}`, other), gateway.call('GET', '/v1/intents/x', other));
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatchObject({ status: 404, body: { detail: 'There is no such intent.' } });
    }
    for (const credential of [keys.viewer, keys.operator, keys.everywhere]) {
      expect((await gateway.call('GET', `/v1/intents/${intentId}`, credential)).status).toBe(202);
    }
  });

  it('tells what happened in order, and agents nothing of the injected fields and the runtime layer', async () => {
    const { intentId, runId } = await record({ injected: { agent_user: 'ada' } });
    await start(intentId);
    const path = `/v1/intents/${intentId}/events`;
    const { body } = await gateway.call('GET', path, await tokenFor(runId));
    expect(body['events']).toMatchObject([
      { version: 1, type: 'recorded', at: expect.any(String), proposal: { intentId } },
      { version: 2, type: 'authorized', basis: 'admitted' },
      { version: 3, type: 'attempt_started', attempt: 1 },
    ]);
    for (const field of ['injected', '"key"', 'terms', 'contractDigest']) {
      expect(JSON.stringify(body)).not.toContain(field);
    }
    expect(JSON.stringify((await gateway.call('GET', path, keys.viewer)).body)).toContain(
      '"injected":{"agent_user":"ada"}',
    );
  });

  it('cancels what was not sent, in the name of who asked', async () => {
    const { intentId, runId } = await record();
    const cancel = async () => gateway.call('POST', `/v1/intents/${intentId}/cancel`, await tokenFor(runId));
    expect(await cancel()).toMatchObject({ status: 200, body: { status: 'cancelled', outcome: 'not_executed' } });
    expect(await cancel()).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    expect((await store.intents.history(intentId)).at(-1)?.event).toEqual({ type: 'cancelled', by: 'ada' });
  });

  it('does not call cancelled what may have been sent', async () => {
    const { intentId } = await record();
    await start(intentId);
    const cancel = (credential: string) => gateway.call('POST', `/v1/intents/${intentId}/cancel`, credential);
    expect(await cancel(keys.viewer)).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('needs the role operator') },
    });
    expect(await cancel(keys.operator)).toMatchObject({ status: 202, body: { status: 'dispatching' } });
    expect((await store.intents.history(intentId)).at(-1)?.event).toMatchObject({ type: 'cancel_requested' });
    const { intentId: taken } = await record();
    await verdict(taken, await start(taken), { kind: 'accepted', data: null });
    expect(await gateway.call('POST', `/v1/intents/${taken}/cancel`, keys.operator)).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict', nextAction: 'check_outcome', details: { state: 'accepted' } } },
    });
  });

  it('ends only the waiting when the caller hangs up', async () => {
    const { intentId, runId } = await record();
    const token = await tokenFor(runId);
    const hangUp = new AbortController();
    const waiting = gateway.call('GET', `/v1/intents/${intentId}`, token, {
      headers: { prefer: 'wait=30' },
      signal: hangUp.signal,
    });
    const gone = expect(waiting).rejects.toThrow(/abort/i);
    await gateway.call('GET', `/v1/intents/${intentId}`, token);
    hangUp.abort();
    await gone;
    await verdict(intentId, await start(intentId), { kind: 'executed', data: null });
    expect((await gateway.call('GET', `/v1/intents/${intentId}`, token)).body).toMatchObject({ status: 'committed' });
  });

  it('lists by page and by filter, each operator their own tenant', async () => {
    const runId = `run_${ulid()}`;
    const ours = [];
    for (let i = 0; i < 3; i += 1) ours.unshift((await record({ runId })).intentId);
    const theirs = await record({ tenant: 'hooli', tool: 'orders.get' });
    const list = (query: string, key: string = keys.viewer) => gateway.call('GET', `/v1/intents?${query}`, key);
    const ids = (body: Record<string, unknown>) =>
      (body['items'] as { intentId: string }[]).map((item) => item.intentId);

    const first = (await list(`runId=${runId}&limit=2`)).body;
    expect(ids(first)).toEqual(ours.slice(0, 2));
    const second = (await list(`runId=${runId}&limit=2&cursor=${first['nextCursor']}`)).body;
    expect([ids(second), second['nextCursor']]).toEqual([ours.slice(2), null]);
    expect(ids((await list('tool=orders.get')).body)).toEqual([]);
    expect(ids((await list('tool=orders.get&tenant=hooli', keys.everywhere)).body)).toEqual([theirs.intentId]);
    expect(ids((await list(`runId=${runId}&olderThan=1h`)).body)).toEqual([]);
    expect(ids((await list(`runId=${runId}&state=cancelled`)).body)).toEqual([]);
    expect(await list('tenant=hooli')).toMatchObject({ status: 403 });
    expect(await list('state=done&limit=0&page=2')).toMatchObject({
      status: 400,
      body: { error: { details: { problems: { length: 3 } } } },
    });
    expect(await list('', await tokenFor(runId))).toMatchObject({ status: 403 });
  });

  it('settles an intent by what a person found out, once that can be known', async () => {
    const { intentId } = await record({ terms: { ...quickTerms, settleMs: 60_000 } });
    await verdict(intentId, await start(intentId), unknown);
    const resolve = (body: object, key: string = keys.operator) =>
      gateway.call('POST', `/v1/intents/${intentId}/resolve`, key, { body });
    const evidence = 'not in the ledger';
    expect(await resolve({ outcome: 'executed', evidence }, keys.viewer)).toMatchObject({ status: 403 });
    expect(await resolve({ outcome: 'maybe', evidence: ' ' })).toMatchObject({ status: 400 });
    const early = await resolve({ outcome: 'not_executed', evidence });
    expect(early).toMatchObject({
      status: 409,
      body: { error: { details: { reason: 'too_early', notBefore: expect.any(String) } } },
    });
    const done = await resolve({ outcome: 'executed', externalId: 're_7', evidence });
    expect(done).toMatchObject({ status: 200, body: { status: 'committed', data: { externalId: 're_7', evidence } } });
    const version = (await store.intents.load(intentId))?.version;
    const { status, body } = await resolve({ outcome: 'executed', externalId: 're_7', evidence });
    expect({ status, body }).toEqual({ status: 200, body: done.body });
    for (const other of [
      { outcome: 'executed', evidence },
      { outcome: 'executed', externalId: 're_7', evidence: 'asked them' },
      { outcome: 'not_executed', externalId: 're_7', evidence },
    ]) {
      expect(await resolve(other)).toMatchObject({ status: 409, body: { error: { details: { state: 'committed' } } } });
    }
    expect((await store.intents.load(intentId))?.version).toBe(version);
  });
});
