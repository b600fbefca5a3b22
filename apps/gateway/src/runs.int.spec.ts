import type { RpcRequest } from '@intendant/bus';
import { Refusal, subjects } from '@intendant/contracts';
import { Store } from '@intendant/store';
import { createDatabase, type NatsServer, startNats, type TestDatabase } from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { answerOn, environment, keys, startGateway, type TestGateway, tokenFor } from './gateway.spec-helper.js';

const opened = {
  runId: 'run_01JD8Q3M1A9S8D7F6G5H4J3K2Z',
  token: 'token',
  expiresAt: '2026-01-01T00:00:00.000Z',
  budgets: { calls: 20, mutating: null, destructive: 1, cost: null, wallClockSeconds: 120 },
};

describe('runs', () => {
  let nats: NatsServer;
  let database: TestDatabase;
  let gateway: TestGateway;
  let store: Store;
  const stops: (() => Promise<void>)[] = [];
  const good = { user: 'ada', permissions: ['orders:read'], profile: 'interactive' };
  const open = (body: unknown, key: string | null = keys.service) => gateway.call('POST', '/v1/runs', key, { body });
  const policy = async (handle: (request: RpcRequest) => unknown = () => opened) => {
    const requests: RpcRequest[] = [];
    const take = (request: RpcRequest) => {
      requests.push(request);
      return handle(request);
    };
    stops.push(await answerOn(nats.url, subjects.rpcOpenRun, take));
    return requests;
  };
  const bodyOf = (request: RpcRequest | undefined) => JSON.parse(Buffer.from(request?.payload ?? []).toString());

  /** A run of tenant acme, opened as the policy service does it. */
  async function someRun(ttlMs = 60_000): Promise<string> {
    const run = { tenant: 'acme', user: 'ada', profile: 'batch' as const, permissions: ['*'], phase: null };
    return (await store.runs.open({ ...run, id: `run_${ulid()}`, openedBy: 'bot' }, ttlMs)).id;
  }

  beforeAll(async () => {
    [nats, database] = await Promise.all([startNats(), createDatabase()]);
    store = await Store.open({ url: database.url, name: 'spec' });
    gateway = await startGateway(environment(database.url, nats.url));
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });
  afterAll(async () => {
    await gateway?.close();
    await store?.close();
    await Promise.all([nats?.stop(), database?.drop()]);
  });

  describe('opening one', () => {
    it('hands on what was asked for, with the key, and answers as the policy service does', async () => {
      const requests = await policy();
      const body = {
        ...good,
        phase: 'resolve',
        ttl: 'PT30M',
        sandbox: true,
        budgets: { calls: 5, mutating: 0, destructive: 0, cost: 1.5, wallClock: '10m' },
        restrict: [{ tools: ['mail.*'], allow: 'args.to == "a"', message: 'To a.' }],
      };
      const { status, body: answer } = await open(body);
      expect([status, answer]).toEqual([201, opened]);
      expect(bodyOf(requests[0])).toEqual(body);
      expect(requests[0]?.headers.get('Authorization')).toBe(`Bearer ${keys.service}`);
    });

    it('hands on its refusal', async () => {
      await policy(() => {
        throw new Refusal('invalid_arguments', '/budgets/calls: too many.', {
          problems: [{ pointer: '/budgets/calls' }],
        });
      });
      expect(await open({ ...good, budgets: { calls: 5_000 } })).toMatchObject({
        status: 422,
        body: { error: { code: 'invalid_arguments', details: { problems: [{ pointer: '/budgets/calls' }] } } },
      });
    });

    it('says so when no policy service answers', async () => {
      expect(await open(good)).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
    });

    it('names every mistake of a message at once, and hands nothing on', async () => {
      const requests = await policy();
      const { status, headers, body } = await open({
        ...{ user: '', permissions: [1], profile: 'fast', ttl: '25h', tenant: 'umbrella', sandbox: 'yes' },
        budgets: { calls: -1, mutating: 1.5, destructive: '1', cost: 0.0000001, wallClock: 60, dollars: 1 },
        restrict: [{ tools: ['*'], allow: '', message: 5 }],
      });
      expect(status).toBe(400);
      expect(headers.get('content-type')).toContain('application/problem+json');
      expect(body).toMatchObject({
        ...{ type: 'urn:intendant:error:invalid_message', title: 'Invalid message', status: 400 },
        error: { code: 'invalid_message', nextAction: 'fix_arguments' },
      });
      const { details } = body['error'] as { details: { problems: { pointer: string }[] } };
      expect(details.problems.map(({ pointer }) => pointer).sort()).toEqual([
        ...['/budgets/calls', '/budgets/cost', '/budgets/destructive', '/budgets/dollars', '/budgets/mutating'],
        ...['/budgets/wallClock', '/permissions', '/profile', '/restrict/0/allow', '/restrict/0/message'],
        ...['/restrict/0/tools', '/sandbox', '/tenant', '/ttl', '/user'],
      ]);
      expect(details.problems).toContainEqual({ pointer: '/profile', expected: 'one of interactive, batch' });
      expect(details.problems).toContainEqual({
        pointer: '/budgets/calls',
        expected: 'a whole number from 0 to 1000000000',
      });
      expect(requests).toEqual([]);
    });

    it.each([
      ['{"calls":1e400}', '/budgets/calls'],
      ['{"calls":1000000001}', '/budgets/calls'],
      ['{"cost":1e400}', '/budgets/cost'],
      ['{"calls":"NaN"}', '/budgets/calls'],
      ['[]', '/budgets'],
      ['5', '/budgets'],
      ['"calls"', '/budgets'],
    ])('refuses budgets that are %s instead of ignoring them', async (budgets, pointer) => {
      const requests = await policy();
      const { status, body } = await open(`{"user":"ada","permissions":[],"profile":"batch","budgets":${budgets}}`);
      expect(status).toBe(400);
      const { details } = body['error'] as { details: { problems: { pointer: string }[] } };
      expect(details.problems.map((problem) => problem.pointer)).toEqual([pointer]);
      expect(requests).toEqual([]);
    });

    it.each(['5', '{}', '[5]', '[[]]', 'true'])('refuses restrictions that are %s', async (restrict) => {
      const requests = await policy();
      const { status } = await open(`{"user":"ada","permissions":[],"profile":"batch","restrict":${restrict}}`);
      expect([status, requests]).toEqual([400, []]);
    });

    it.each(['__proto__', 'constructor'])('refuses a message with the member %s', async (name) => {
      const { status, body } = await open(
        `{"user":"ada","permissions":[],"profile":"batch","${name}":{"prototype":1}}`,
      );
      expect(status).toBe(400);
      expect(body).toMatchObject({ error: { code: 'invalid_message' } });
    });

    it('is for service keys only, and says so to everybody else', async () => {
      const requests = await policy();
      const token = await tokenFor(opened.runId);
      expect(await open(good, null)).toMatchObject({ status: 401, body: { error: { code: 'unauthenticated' } } });
      expect((await open(good, null)).headers.get('www-authenticate')).toBe('Bearer');
      expect(await open(good, 'wrong')).toMatchObject({
        status: 401,
        body: { detail: 'This service key is not known.' },
      });
      expect(await open(good, keys.operator)).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
      expect(await open(good, token)).toMatchObject({
        status: 403,
        body: { detail: expect.stringContaining('A run token cannot') },
      });
      expect(requests).toEqual([]);
    });
  });

  describe('letting one enter another phase', () => {
    const enter = (runId: string, body: unknown, key: string = keys.service) =>
      gateway.call('POST', `/v1/runs/${runId}/phase`, key, { body });

    it('changes the phase of its row and raises its revision, to none as well', async () => {
      const runId = await someRun();
      expect(await enter(runId, { phase: 'resolve' })).toMatchObject({
        status: 200,
        body: { runId, phase: 'resolve' },
      });
      expect(await store.runs.find(runId)).toMatchObject({ phase: 'resolve', revision: 2 });
      expect(await enter(runId, { phase: null })).toMatchObject({ status: 200, body: { runId, phase: null } });
      expect(await store.runs.find(runId)).toMatchObject({ phase: null, revision: 3 });
    });

    it.each([{}, { phase: '' }, { phase: 5 }, { phase: 'a\nb' }, { phase: 'x'.repeat(101) }, { phase: 'a', and: 1 }])(
      'refuses %j',
      async (body) => {
        const runId = await someRun();
        expect(await enter(runId, body)).toMatchObject({ status: 400, body: { error: { code: 'invalid_message' } } });
        expect(await store.runs.find(runId)).toMatchObject({ phase: null, revision: 1 });
      },
    );

    it('knows no run of another tenant', async () => {
      const runId = await someRun();
      const foreign = await enter(runId, { phase: 'resolve' }, keys.otherService);
      const missing = await enter(`run_${ulid()}`, { phase: 'resolve' });
      expect(foreign).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
      expect(foreign.body).toEqual(missing.body);
      expect((await enter('run_1', { phase: 'resolve' })).status).toBe(404);
      expect(await store.runs.find(runId)).toMatchObject({ phase: null, revision: 1 });
    });

    it('tells of one that is closed, or has expired, that it is', async () => {
      const closed = await someRun();
      await store.runs.close(closed, 'acme');
      expect(await enter(closed, { phase: 'resolve' })).toMatchObject({
        status: 409,
        body: { detail: 'This run is closed; it enters no phase any more. Open a new run.' },
      });
      const expired = await someRun(-1_000);
      expect(await enter(expired, { phase: 'resolve' })).toMatchObject({
        status: 409,
        body: { detail: expect.stringMatching(/^This run has expired at 20.*; it enters no phase any more/) },
      });
      expect(await store.runs.find(expired)).toMatchObject({ phase: null });
    });

    it('is for service keys only', async () => {
      const runId = await someRun();
      expect((await enter(runId, { phase: 'x' }, keys.operator)).status).toBe(403);
      expect((await enter(runId, { phase: 'x' }, await tokenFor(runId))).status).toBe(403);
      expect(await store.runs.find(runId)).toMatchObject({ phase: null });
    });
  });

  it('closes a run of its own tenant, as often as asked', async () => {
    const runId = await someRun();
    const path = `/v1/runs/${runId}/close`;
    expect((await gateway.call('POST', path, keys.otherService)).status).toBe(404);
    expect((await gateway.call('POST', path, keys.service)).status).toBe(204);
    expect((await gateway.call('POST', path, keys.service)).status).toBe(204);
    expect(await store.runs.find(runId)).toMatchObject({ closed: true });
    expect((await gateway.call('POST', '/v1/runs/run_1/close', keys.service)).status).toBe(404);
  });
});
